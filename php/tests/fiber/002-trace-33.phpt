--TEST--
Trace 33: two coroutines drive fibers, their steps interleave
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

foreach (['C1', 'C2'] as $n) {
    spawn(function () use ($n) {
        $f = new Fiber(function () use ($n) {
            echo "$n-1\n";
            Fiber::suspend();
            echo "$n-2\n";
            Fiber::suspend();
            echo "$n-3\n";
        });
        $f->start();
        $f->resume();
        $f->resume();
    });
}
?>
--EXPECT--
C1-1
C2-1
C1-2
C2-2
C1-3
C2-3
