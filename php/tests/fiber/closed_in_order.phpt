--TEST--
Fiber: those that are left at the end are closed in the order in which they began
--EXTENSIONS--
true_async
--FILE--
<?php
Async\suspend();
$fibers = [];
foreach (range(1, 30) as $i) {
    $fibers[$i] = new Fiber(function () use ($i) {
        try {
            Fiber::suspend();
        } finally {
            echo $i, ' ';
        }
    });
}
foreach (array_reverse($fibers) as $fiber) {
    $fiber->start();
}
?>
--EXPECT--
30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1
