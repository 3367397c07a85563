--TEST--
TaskGroup: race and any
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, CompositeException};
use function Async\{await, suspend, spawn, delay};
tell(fn() => (new TaskGroup)->race());
tell(fn() => (new TaskGroup)->any());
echo "first to settle\n";
$g = new TaskGroup();
$g->spawn(function () { suspend(); suspend(); return 'slow'; });
$g->spawn(function () { suspend(); return 'quick'; });
tell(fn() => await($g->race()));
tell(fn() => await($g->race()));
await($g->all());
echo "settled: first in task order\n";
tell(fn() => [await($g->race()), await($g->race())]);
echo "a failure\n";
$g = new TaskGroup();
$g->spawn(function () { suspend(); return 'value'; });
$g->spawn(fn() => throw new LogicException('failed'));
tell(fn() => await($g->race()));
tell(fn() => await($g->any()));
tell(fn() => await($g->any()));
echo "all failed\n";
$g = new TaskGroup();
$g->spawn(function () { suspend(); throw new LogicException('one'); });
$g->spawn(fn() => throw new DomainException('two'));
try { await($g->any()); } catch (CompositeException $e) { tell(fn() => array_map(fn($x) => $x->getMessage(), $e->getExceptions())); }
try { await($g->any()); } catch (CompositeException $e) { tell(fn() => count($e->getExceptions())); }
echo "a race does not stop the others\n";
$g = new TaskGroup();
$g->spawn(fn() => 'first');
$g->spawn(function () { suspend(); echo "second runs\n"; });
tell(fn() => await($g->race()));
await($g->all());
--EXPECT--
Async\AsyncException: Cannot race on an empty TaskGroup
Async\AsyncException: Cannot call any() on an empty TaskGroup
first to settle
"quick"
"slow"
settled: first in task order
["slow","slow"]
a failure
LogicException: failed
"value"
"value"
all failed
["one","two"]
2
a race does not stop the others
"first"
second runs
