--TEST--
Fiber: the scheduler starts inside a native one, which suspends while a destructor is suspended in a coroutine
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip valgrind loses its way on the stacks of PHP\'s own fibers'); ?>
--FILE--
<?php
$fiber = new Fiber(function () {
    require __DIR__ . '/slow.inc';
    spawn_slow();
    require __DIR__ . '/suspend.inc';
    echo "fiber suspends\n";
    Fiber::suspend(1);
    echo "fiber ends\n";
});
$fiber->start();
echo "main\n";
require __DIR__ . '/suspend.inc';
$fiber->resume();
?>
--EXPECT--
destructor begins
fiber suspends
main
fiber ends
destructor ends
