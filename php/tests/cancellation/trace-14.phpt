--TEST--
Trace 14: a coroutine cancels its own scope
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$c = $s->spawn(function () use ($s) { echo "a\n"; suspend(); echo "b\n"; $s->cancel(); echo "d\n"; });
try { await($c); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; }
var_dump($c->isCancelled(), $s->isCancelled());
--EXPECT--
a
b
d
Scope was cancelled
bool(true)
bool(true)
