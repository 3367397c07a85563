--TEST--
Trace 34: a fiber that spawns
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$f = new Fiber(function () {
    spawn(function () { echo "x\n"; suspend(); echo "y\n"; });
    echo "f\n";
    Fiber::suspend();
    echo "fiber continues\n";
});
$f->start();
echo "main sees: "; var_dump($f->isSuspended());
echo "resuming\n";
$f->resume();
--EXPECT--
f
x
main sees: bool(true)
resuming
y
fiber continues
