--TEST--
TaskGroup::all
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, CompositeException};
use function Async\{await, suspend, spawn};
$g = new TaskGroup();
echo "empty\n";
tell(fn() => await($g->all()));
echo "those that are known now; closing is not needed\n";
$g->spawn(fn() => 'a');
$f = $g->all();
$g->spawn(fn() => 'b');
tell(fn() => await($f));
tell(fn() => await($g->all()));
$settled = $g->all();
tell(fn() => [$settled->isCompleted(), $settled->await()]);
echo "errors, in task order\n";
$g->spawnWithKey('late', function () { suspend(); suspend(); throw new LogicException('late'); });
$g->spawnWithKey('early', fn() => throw new DomainException('early'));
for ($i = 0; $i < 2; $i++) {
    try { await($g->all()); } catch (CompositeException $e) { tell(fn() => array_map(fn($x) => $x->getMessage(), $e->getExceptions())); }
}
tell(fn() => await($g->all(true)));
tell(fn() => await($g->all(ignoreErrors: true)));
tell(fn() => [$g->getResults(), array_map(fn($e) => $e->getMessage(), $g->getErrors())]);
tell(fn() => $g->suppressErrors());
tell(fn() => array_keys($g->getErrors()));
echo "results while others run\n";
$g = new TaskGroup();
$g->spawn(function () { suspend(); suspend(); return 'later'; });
$g->spawn(fn() => 'now');
suspend();
tell(fn() => [$g->getResults(), $g->getErrors(), $g->isFinished()]);
tell(fn() => await($g->all()));
--EXPECT--
empty
[]
those that are known now; closing is not needed
["a"]
["a","b"]
[true,["a","b"]]
errors, in task order
["late","early"]
["late","early"]
["a","b"]
["a","b"]
[["a","b"],{"late":"late","early":"early"}]
null
["late","early"]
results while others run
[{"1":"now"},[],false]
["later","now"]
