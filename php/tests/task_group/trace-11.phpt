--TEST--
Trace 11: a group handler comes after the awaiter of all()
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$g = new TaskGroup;
$g->spawn(fn () => 1);
$g->finally(fn () => print("handler\n"));
$g->close();
await($g->all());
echo "a\n";
--EXPECT--
a
handler
