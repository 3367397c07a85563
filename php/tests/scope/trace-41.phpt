--TEST--
Trace 41: a scope with a handler stays usable
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$s->setExceptionHandler(function ($scope, $c, $e) { echo "H(", $e->getMessage(), ")\n"; });
$e1 = $s->spawn(function () { suspend(); throw new Exception("e1"); });
$e2 = $s->spawn(function () { suspend(); throw new Exception("e2"); });
$n = $s->spawn(function () { suspend(); echo "n\n"; });
suspend(); suspend();
echo "main\n";
await($s->spawn(fn () => print("usable\n")));
--EXPECT--
H(e1)
H(e2)
n
main
usable
