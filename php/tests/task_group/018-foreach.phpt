--TEST--
TaskGroup: foreach gives outcomes in settling order
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet};
use function Async\{await, suspend, spawn};
foreach ([TaskGroup::class, TaskSet::class] as $class) {
    echo "$class\n";
    $g = new $class();
    $g->spawnWithKey('slow', function () { suspend(); suspend(); return 'slow'; });
    $g->spawn(fn() => throw new LogicException('failed'));
    $g->spawn(fn() => null);
    $g->close();
    foreach ($g as $key => [$result, $error]) {
        echo json_encode([$key, $result, $error?->getMessage(), count($g)]), "\n";
    }
    echo "again\n";
    foreach ($g as $key => [$result, $error]) {
        echo json_encode([$key, $result, $error?->getMessage()]), "\n";
    }
}
echo "it waits for tasks that come later\n";
$g = new TaskGroup();
$reader = spawn(function () use ($g) { foreach ($g as $key => [$result]) { echo "$key $result\n"; } echo "loop ended\n"; });
suspend();
$g->spawn(fn() => 'first');
turns(2);
$g->spawn(fn() => 'second');
turns(2);
tell(fn() => $reader->isCompleted());
$g->close();
await($reader);
echo "cancelled while it waits\n";
$g = new TaskGroup();
$reader = spawn(function () use ($g) { tell(function () use ($g) { foreach ($g as $x) {} }); });
suspend();
$reader->cancel();
suspend();
echo "break\n";
$s = new TaskSet();
foreach ([1, 2, 3] as $n) { $s->spawn(fn() => $n); }
$s->close();
foreach ($s as [$v]) { echo "$v\n"; break; }
tell(fn() => count($s));
foreach ($s as [$v]) { echo "$v ", count($s), "\n"; }
echo "empty and closed\n";
$g = new TaskGroup();
$g->close();
foreach ($g as $x) { echo "NOTHING\n"; }
--EXPECT--
Async\TaskGroup
[0,null,"failed",3]
[1,null,null,3]
["slow","slow",null,3]
again
[0,null,"failed"]
[1,null,null]
["slow","slow",null]
Async\TaskSet
[0,null,"failed",2]
[1,null,null,1]
["slow","slow",null,0]
again
it waits for tasks that come later
0 first
1 second
false
loop ended
cancelled while it waits
Async\AsyncCancellation: Coroutine cancelled
break
1
2
2 1
3 0
empty and closed
