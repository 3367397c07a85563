--TEST--
Trace 40: two errors in one report
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new Scope;
$s->spawn(function () { echo "p\n"; Async\current_coroutine()->finally(function () { echo "f\n"; throw new Exception("F"); }); suspend(); suspend(); suspend(); });
$k = Scope::inherit($s);
$k->spawn(function () { echo "c\n"; throw new Exception("E"); });
suspend();
echo "never\n";
--EXPECTF--
p
c
f

Fatal error: Uncaught Exception: E in %s
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}

Next Exception: F in %s
Stack trace:
#0 [internal function]: {closure%S}(Object(Async\Coroutine))
#1 {main}
  thrown in %s on line %d
