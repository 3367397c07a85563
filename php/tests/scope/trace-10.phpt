--TEST--
Trace 10: scope handlers run when its object goes
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$c = $s->spawn(fn () => print("c\n"));
$s->finally(fn () => print("g1\n"));
$s->finally(fn () => print("g2\n"));
await($c);
echo "m\n";
--EXPECT--
c
m
g1
g2
