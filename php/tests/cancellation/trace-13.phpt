--TEST--
Trace 13: protect() defers
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$c = spawn(function () { protect(function () { suspend(); echo "p\n"; }); echo "never\n"; });
suspend();
$c->cancel();
try { await($c); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; }
var_dump($c->getResult());
--EXPECT--
p
Coroutine cancelled
NULL
