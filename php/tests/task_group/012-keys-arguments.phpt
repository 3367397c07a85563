--TEST--
TaskGroup: keys, arguments of tasks, all kinds of callables
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet};
use function Async\{await};
$g = new TaskGroup();
$g->spawn(fn(...$a) => $a, 1, 'two', name: 'three');
$g->spawn('strtoupper', 'function');
$g->spawn([new DateTime('2000-01-01'), 'format'], 'Y');
$g->spawn('DateTime::createFromFormat', 'Y', 'x');
$g->spawnWithKey('word', fn($v) => $v, 'v');
$g->spawnWithKey(50, fn() => 'fifty');
$g->spawn(fn() => 'after fifty');
$g->spawnWithKey(key: 'named', task: fn() => 'named');
tell(fn() => await($g->all()));
echo "duplicates\n";
tell(fn() => $g->spawnWithKey('word', fn() => 1));
tell(fn() => $g->spawnWithKey(50, fn() => 1));
tell(fn() => $g->spawnWithKey(0, fn() => 1));
tell(fn() => $g->spawnWithKey('50', fn() => 1));
tell(fn() => count($g));
echo "order of tasks, not of settling\n";
$g = new TaskGroup();
$g->spawn(function () { Async\delay(3); return 'slow'; });
$g->spawn(fn() => 'quick');
tell(fn() => await($g->all()));
$s = new TaskSet();
$s->spawnWithKey('a', fn() => 1);
tell(fn() => $s->spawnWithKey('a', fn() => 1));
tell(fn() => await($s->joinAll()));
tell(fn() => $s->spawnWithKey('a', fn() => 2));
tell(fn() => await($s->joinAll()));
--EXPECT--
{"0":{"0":1,"1":"two","name":"three"},"1":"FUNCTION","2":"2000","3":false,"word":"v","50":"fifty","51":"after fifty","named":"named"}
duplicates
Async\AsyncException: Duplicate key "word" in TaskGroup
Async\AsyncException: Duplicate key 50 in TaskGroup
Async\AsyncException: Duplicate key 0 in TaskGroup
Async\AsyncException: Duplicate key 50 in TaskGroup
8
order of tasks, not of settling
["slow","quick"]
Async\AsyncException: Duplicate key "a" in TaskSet
{"a":1}
null
{"a":2}
