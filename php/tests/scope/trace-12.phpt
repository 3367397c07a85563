--TEST--
Trace 12: handlers of a cancelled tree, then the uncaught error of one
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$c1 = $s->spawn(function () { suspend(); suspend(); suspend(); });
$c1->finally(fn () => print("h1\n"));
$c1->finally(fn () => print("h2\n"));
$c1->finally(function () { echo "h3\n"; throw new Exception("third"); });
$k = Scope::inherit($s);
$c2 = $k->spawn(function () { suspend(); suspend(); suspend(); });
$c2->finally(fn () => print("k1\n"));
$s->finally(fn () => print("g\n"));
suspend();
$s->cancel();
suspend();
echo "never\n";
--EXPECTF--
h1
h2
h3
k1
g

Fatal error: Uncaught Exception: third in %s
Stack trace:
#0 [internal function]: {closure%S}(Object(Async\Coroutine))
#1 {main}
  thrown in %s on line %d
