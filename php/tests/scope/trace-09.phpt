--TEST--
Trace 9: without an awaiter the scope handler gets both
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$s->setExceptionHandler(function ($scope, $c, $e) { echo "H ", $e instanceof CompositeException ? count($e->getExceptions()) : $e->getMessage(), "\n"; });
$c = $s->spawn(function () { echo "body\n"; suspend(); throw new Exception("E"); });
foreach (["f1", "f2", "f3"] as $f) { $c->finally(function () use ($f) { echo "$f\n"; throw new Exception($f); }); }
suspend(); suspend(); suspend(); suspend();
--EXPECT--
body
H E
f1
f2
f3
H 3
