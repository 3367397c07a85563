--TEST--
Fiber: one that was started before the scheduler goes on while a destructor is suspended in another coroutine, and not inside a destructor
--EXTENSIONS--
true_async
--FILE--
<?php
$native = new Fiber(function () {
    while (true) {
        echo "fiber\n";
        Fiber::suspend();
    }
});
$native->start();
require __DIR__ . '/native_beside_destructor.inc';
?>
--EXPECT--
fiber
destructor begins
fiber
destructor ends
fiber
destructor begins
bool(true)
destructor ends
fiber
