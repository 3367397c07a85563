--TEST--
Handlers of a task group do not get the head of the queue
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

$group = new Async\TaskGroup();
$group->spawn(function () { echo "task\n"; });
$group->finally(function () { echo "handler of the group\n"; });
$group->close();
spawn(function () { echo "queued before\n"; suspend(); });
suspend();
echo "main\n";
suspend();
suspend();
?>
--EXPECT--
task
queued before
main
handler of the group
