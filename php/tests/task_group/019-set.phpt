--TEST--
TaskSet: an entry is removed when its outcome is delivered
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskSet, CompositeException};
use function Async\{await, suspend, spawn};
$s = new TaskSet();
tell(fn() => $s->joinNext());
tell(fn() => $s->joinAny());
tell(fn() => await($s->joinAll()));
echo "joinNext\n";
$s->spawn(function () { suspend(); suspend(); return 'slow'; });
$s->spawn(fn() => 'quick');
$s->spawn(function () { suspend(); throw new LogicException('failed'); });
tell(fn() => [count($s), await($s->joinNext()), count($s)]);
tell(fn() => await($s->joinNext()));
tell(fn() => [count($s), await($s->joinNext()), count($s)]);
echo "settled before anybody asked\n";
foreach (['a', 'b'] as $v) { $s->spawn(fn() => $v); }
turns();
tell(fn() => [count($s), await($s->joinNext()), await($s->joinNext()), count($s)]);
echo "joinAny skips failures\n";
$s->spawn(fn() => throw new LogicException('skipped'));
$s->spawn(function () { suspend(); return 'success'; });
tell(fn() => [await($s->joinAny()), count($s)]);
try { await($s->joinAny()); } catch (CompositeException $e) { tell(fn() => [array_map(fn($x) => $x->getMessage(), $e->getExceptions())]); }
tell(fn() => count($s));
echo "joinAll\n";
$s = new TaskSet();
$s->spawnWithKey('a', fn() => 1);
$s->spawnWithKey('b', fn() => 2);
tell(fn() => [await($s->joinAll()), count($s)]);
$s->spawn(fn() => 1);
$s->spawn(fn() => throw new LogicException('E'));
tell(fn() => await($s->joinAll()));
tell(fn() => count($s));
$s->spawn(fn() => 1);
$s->spawn(fn() => throw new LogicException('E'));
tell(fn() => [await($s->joinAll(ignoreErrors: true)), count($s)]);
echo "closed\n";
$s->close();
tell(fn() => $s->spawn(fn() => 1));
--EXPECT--
Async\AsyncException: Cannot call joinNext() on an empty TaskSet
Async\AsyncException: Cannot call joinAny() on an empty TaskSet
[]
joinNext
[3,"quick",2]
LogicException: failed
[1,"slow",0]
settled before anybody asked
[2,"a","b",0]
joinAny skips failures
["success",1]
[["skipped"]]
1
joinAll
[{"a":1,"b":2},0]
Async\CompositeException: 1 errors: E
0
[{"2":1},0]
closed
Async\AsyncException: Cannot spawn tasks on a closed TaskSet
