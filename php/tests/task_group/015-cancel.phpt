--TEST--
TaskGroup::cancel
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet, Scope, AsyncCancellation};
use function Async\{await, suspend, spawn, delay};
foreach ([TaskGroup::class, TaskSet::class] as $class) {
    echo "$class\n";
    $g = new $class(1, 0, (new Scope()));
    $g->spawn(function () { echo "running\n"; try { delay(10000); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; throw $e; } });
    $g->spawn(function () { echo "NEVER\n"; });
    suspend();
    $g->cancel();
    tell(fn() => [$g->isClosed(), $g->isFinished()]);
    tell(fn() => $g->spawn(fn() => 1));
    $g->awaitCompletion();
    tell(fn() => [$g->isClosed(), $g->isFinished()]);
    if ($class === TaskGroup::class) { tell(fn() => [$g->getResults(), array_map(fn($e) => $e->getMessage(), $g->getErrors())]); }
    tell(fn() => $g->cancel());
}
echo "own message\n";
$g = new TaskGroup(scope: new Scope());
$g->spawn(function () { try { delay(10000); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; } return 'result'; });
suspend();
$g->cancel(cancellation: new AsyncCancellation('mine'));
$g->awaitCompletion();
echo "with a slot, but it has not run yet\n";
$g = new TaskGroup(scope: new Scope());
$g->spawn(function () { echo "NEVER\n"; });
$g->cancel();
tell(fn() => [$g->isClosed(), $g->isFinished()]);
$g->awaitCompletion();
tell(fn() => [$g->isFinished(), count($g)]);
echo "dispose\n";
$g = new TaskGroup(scope: new Scope());
$g->spawn(function () { try { delay(10000); } finally { echo "disposed\n"; } });
suspend();
$g->dispose();
tell(fn() => $g->isFinished());
suspend(); suspend();
tell(fn() => $g->isFinished());
tell(fn() => $g->spawn(fn() => 1));
echo "a safe scope: started tasks run on\n";
$g = new TaskGroup();
$g->spawn(function () { suspend(); suspend(); echo "zombie ends\n"; return 1; });
suspend();
$g->cancel();
$g->awaitCompletion();
tell(fn() => $g->isFinished());
turns();
echo "who waits for all()\n";
$g = new TaskGroup(scope: new Scope());
$g->spawn(fn() => delay(10000));
$w = spawn(function () use ($g) { tell(fn() => await($g->all())); });
suspend();
$g->cancel();
await($w);
--EXPECT--
Async\TaskGroup
running
[true,false]
Async\AsyncException: Cannot spawn tasks on a closed TaskGroup
TaskGroup cancelled
[true,true]
[[],["TaskGroup cancelled","TaskGroup cancelled"]]
null
Async\TaskSet
running
[true,false]
Async\AsyncException: Cannot spawn tasks on a closed TaskSet
TaskGroup cancelled
[true,true]
null
own message
mine
with a slot, but it has not run yet
[true,false]
[true,1]
dispose
false
disposed
true
Async\AsyncException: Cannot spawn tasks on a closed TaskGroup
a safe scope: started tasks run on
zombie ends
true
who waits for all()
Async\CompositeException: 1 errors: TaskGroup cancelled
