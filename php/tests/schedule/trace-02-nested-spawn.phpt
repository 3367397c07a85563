--TEST--
Trace 2: inner coroutines run after the outer one has ended its turn
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\spawn;

spawn(function () {
    echo "outer 1\n";
    spawn(function () { echo "inner 1\n"; });
    spawn(function () { echo "inner 2\n"; });
    echo "outer 2\n";
});
?>
--EXPECT--
outer 1
outer 2
inner 1
inner 2
