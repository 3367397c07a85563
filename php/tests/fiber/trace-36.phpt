--TEST--
Trace 36: a destructor that drives a fiber
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
class D { function __destruct() {
    $f = new Fiber(function () { echo "f\n"; Fiber::suspend(); echo "g\n"; });
    $f->start();
    echo "suspended\n";
    $f->resume();
    echo "destructor ends\n";
} }
spawn(function () { echo "a\n"; suspend(); echo "b\n"; });
$d = new D;
unset($d);
echo "after unset\n";
--EXPECT--
a
f
b
suspended
g
destructor ends
after unset
