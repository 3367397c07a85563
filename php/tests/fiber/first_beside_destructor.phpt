--TEST--
Fiber: the first one of a script is made while a destructor is suspended in another coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn, suspend};
class Slow { function __destruct() { echo "destructor begins\n"; suspend(); suspend(); suspend(); echo "destructor ends\n"; } }
$coroutine = spawn(function () { $slow = new Slow(); unset($slow); });
suspend();
$fiber = new Fiber(function () { echo "fiber\n"; Fiber::suspend(); echo "fiber ends\n"; });
$fiber->start();
await($coroutine);
$fiber->resume();
new Slow();
?>
--EXPECT--
destructor begins
fiber
destructor ends
fiber ends
destructor begins
destructor ends
