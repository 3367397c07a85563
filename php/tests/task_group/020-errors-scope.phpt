--TEST--
TaskGroup: task errors never surface; the scope; destruction
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, Scope, Channel};
use function Async\{await, suspend, spawn, delay};
$g = new TaskGroup();
$g->spawn(fn() => throw new LogicException('nobody reads it'));
turns();
unset($g);
turns();
echo "no output\n";
echo "a child scope of the given one\n";
$scope = new Scope();
$scope->setExceptionHandler(fn() => print("NOT CALLED\n"));
$scope->setChildScopeExceptionHandler(fn() => print("NOT CALLED\n"));
await($scope->spawn(fn() => Async\current_context()->set('x', 'from the scope')));
$g = new TaskGroup(scope: $scope);
$g->spawn(fn() => throw new LogicException('kept by the group'));
$g->spawn(function () use ($scope) { tell(fn() => [count($scope->getChildScopes()), Async\current_context()->find('x')]); });
tell(fn() => await($g->all(true)));
tell(fn() => array_map(fn($e) => $e->getMessage(), $g->getErrors()));
echo "a temporary scope is kept\n";
$g = new TaskGroup(scope: new Scope());
gc_collect_cycles();
$g->spawn(function () { suspend(); return 'done'; });
tell(fn() => await($g->all()));
echo "cancelling the scope above\n";
$scope = new Scope();
$g = new TaskGroup(scope: $scope);
$g->spawn(function () { try { delay(10000); } finally { echo "stopped\n"; } });
suspend();
$scope->cancel();
turns();
tell(fn() => [$g->isFinished(), $g->getResults()]);
echo "destroying the object\n";
$g = new TaskGroup(scope: new Scope());
$g->spawn(function () { try { delay(10000); } catch (Async\AsyncCancellation $e) { echo $e->getMessage(), "\n"; } });
suspend();
unset($g);
turns();
echo "end\n";
--EXPECT--
no output
a child scope of the given one
[1,"from the scope"]
{"1":null}
["kept by the group"]
a temporary scope is kept
["done"]
cancelling the scope above
stopped
[true,[]]
destroying the object
Scope is being disposed due to object destruction
end
