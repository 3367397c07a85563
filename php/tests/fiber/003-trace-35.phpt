--TEST--
Trace 35: nested fibers in two coroutines
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\spawn;

foreach (['C1', 'C2'] as $n) {
    spawn(function () use ($n) {
        $outer = new Fiber(function () use ($n) {
            echo "$n-outer\n";
            $inner = new Fiber(function () use ($n) {
                echo "$n-inner\n";
                Fiber::suspend();
                echo "$n-inner'\n";
            });
            $inner->start();
            echo "$n-mid\n";
            $inner->resume();
            echo "$n-end\n";
        });
        $outer->start();
    });
}
?>
--EXPECT--
C1-outer
C2-outer
C1-inner
C2-inner
C1-mid
C2-mid
C1-inner'
C2-inner'
C1-end
C2-end
