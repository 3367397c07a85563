--TEST--
Trace 8: the handlers of a coroutine, the scope handler, then the awaiter
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$s->setExceptionHandler(function ($scope, $c, $e) { echo "H ", get_class($e), " ", $e instanceof CompositeException ? count($e->getExceptions()) : $e->getMessage(), "\n"; });
$c = $s->spawn(function () { echo "body\n"; suspend(); throw new Exception("E"); });
foreach (["f1", "f2", "f3"] as $f) { $c->finally(function () use ($f) { echo "$f\n"; throw new Exception($f); }); }
try { await($c); } catch (Exception $e) { echo "main ", $e->getMessage(), "\n"; }
--EXPECT--
body
f1
f2
f3
H Async\CompositeException 3
main E
