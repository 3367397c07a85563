--TEST--
Trace 47: one slot, no limit of the queue
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$g = new TaskGroup(1, 0);
for ($i = 1; $i <= 5; $i++) { $g->spawn(fn () => print("task $i ")); echo "spawned $i "; }
await($g->all());
--EXPECT--
spawned 1 spawned 2 spawned 3 spawned 4 spawned 5 task 1 task 2 task 3 task 4 task 5
