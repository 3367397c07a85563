--TEST--
Trace 42: collections requested before an uncaught exception
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
class D { public $o; function __construct(public string $n) {} function __destruct() { echo $this->n, "\n"; } }
function cycle(string $n) { $d = new D($n); $d->o = $d; }
register_shutdown_function(fn () => print("shutdown\n"));
suspend();
$f = new Fiber(function () { cycle("1"); cycle("2"); gc_collect_cycles(); });
$f->start();
cycle("3"); cycle("4");
gc_collect_cycles();
throw new Exception("main");
--EXPECTF--
%d
%d
%d
%d

Fatal error: Uncaught Exception: main in %s
Stack trace:
#0 {main}
  thrown in %s on line %d
shutdown
