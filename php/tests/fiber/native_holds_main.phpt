--TEST--
Fiber: the scheduler starts inside a native one, which suspends while a destructor is suspended in a coroutine
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip valgrind loses its way on the stacks of PHP\'s own fibers'); ?>
--FILE--
<?php
use function Async\{spawn, suspend};
class Slow { function __destruct() { echo "destructor begins\n"; suspend(); suspend(); echo "destructor ends\n"; } }
$fiber = new Fiber(function () {
    spawn(function () { new Slow(); });
    suspend();
    echo "fiber suspends\n";
    Fiber::suspend(1);
    echo "fiber ends\n";
});
$fiber->start();
echo "main\n";
suspend();
$fiber->resume();
?>
--EXPECT--
destructor begins
fiber suspends
main
fiber ends
destructor ends
