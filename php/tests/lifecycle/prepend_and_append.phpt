--TEST--
auto_prepend_file and auto_append_file belong to the script: coroutines live from one to the other
--EXTENSIONS--
true_async
--INI--
auto_prepend_file={PWD}/prepended.inc
auto_append_file={PWD}/appended.inc
--FILE--
<?php
$fiber->resume('resumed');
$channel = new Async\Channel(1);
Async\spawn(function () use ($channel) { echo $channel->recv(), "\n"; });
Async\suspend();
$channel->send('sent');
echo "main\n";
?>
--EXPECT--
background
prepended
resumed
main
appended 3
sent
background
