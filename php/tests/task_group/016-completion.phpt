--TEST--
TaskGroup: closing and awaitCompletion
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet};
use function Async\{await, suspend, spawn};
foreach ([TaskGroup::class, TaskSet::class] as $class) {
    $g = new $class();
    tell(fn() => $g->awaitCompletion());
    $g->spawn(function () { suspend(); echo "task\n"; });
    $g->spawn(fn() => throw new LogicException('not thrown by awaitCompletion'));
    $g->close();
    $g->close();
    tell(fn() => [$g->isClosed(), $g->isFinished()]);
    tell(fn() => $g->spawn(fn() => 1));
    tell(fn() => $g->spawnWithKey('k', fn() => 1));
    tell(fn() => $g->awaitCompletion());
    tell(fn() => [$g->isClosed(), $g->isFinished(), count($g)]);
    tell(fn() => $g->awaitCompletion());
}
echo "cancelled while it waits\n";
$g = new TaskGroup();
$g->spawn(function () { turns(6); echo "task ends\n"; });
$g->close();
$w = spawn(function () use ($g) { tell(fn() => $g->awaitCompletion()); });
suspend();
$w->cancel();
await($g->all());
echo "from a coroutine\n";
$g = new TaskGroup();
$g->spawn(function () { suspend(); return 1; });
$g->close();
await(spawn(fn() => tell(fn() => $g->awaitCompletion())));
echo "a queued task runs after closing\n";
$g = new TaskGroup(1, 0);
$g->spawn(fn() => print("one\n"));
$g->spawn(fn() => print("two\n"));
$g->close();
$g->awaitCompletion();
--EXPECT--
Async\AsyncException: TaskGroup must be closed before calling awaitCompletion()
[true,false]
Async\AsyncException: Cannot spawn tasks on a closed TaskGroup
Async\AsyncException: Cannot spawn tasks on a closed TaskGroup
task
null
[true,true,2]
null
Async\AsyncException: TaskSet must be closed before calling awaitCompletion()
[true,false]
Async\AsyncException: Cannot spawn tasks on a closed TaskSet
Async\AsyncException: Cannot spawn tasks on a closed TaskSet
task
null
[true,true,2]
null
cancelled while it waits
Async\AsyncCancellation: Coroutine cancelled
task ends
from a coroutine
null
a queued task runs after closing
one
two
