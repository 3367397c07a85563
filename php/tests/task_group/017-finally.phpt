--TEST--
TaskGroup::finally
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet};
use function Async\{await, suspend, spawn, current_coroutine};
echo "not before it is closed\n";
$g = new TaskGroup();
$g->finally(function ($group) use ($g) { echo 'handler ', $group === $g ? "group\n" : "OTHER\n"; });
$g->spawn(fn() => 1);
await($g->all());
suspend();
$g->close();
echo "closed\n";
suspend();
echo "several, in order, after who awaits\n";
$g = new TaskGroup();
foreach ([1, 2] as $i) { $g->finally(fn() => print("handler $i\n")); }
$g->spawn(function () { suspend(); });
$g->close();
await($g->all());
echo "awaiter\n";
suspend();
echo "finished and closed already: at once\n";
$g->finally(fn($x) => print(get_class($x) . " now\n"));
echo "after\n";
echo "it throws there\n";
tell(fn() => $g->finally(fn() => throw new LogicException('handler')));
echo "a set counts 0 then\n";
$s = new TaskSet();
$s->spawn(fn() => 1);
$s->finally(fn($s) => print('count ' . count($s) . "\n"));
$s->close();
await($s->joinAll());
suspend();
echo "a cancelled group\n";
$g = new TaskGroup(scope: new Async\Scope());
$g->spawn(fn() => Async\delay(10000));
$g->finally(fn($g) => print("handler of a cancelled one\n"));
suspend();
$g->cancel();
turns(4);
--EXPECT--
not before it is closed
closed
handler group
several, in order, after who awaits
awaiter
handler 1
handler 2
finished and closed already: at once
Async\TaskGroup now
after
it throws there
LogicException: handler
a set counts 0 then
count 0
a cancelled group
handler of a cancelled one
