--TEST--
Trace 3: a child is queued behind what was there, the parent behind the child
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

spawn(function () {
    echo "a ";
    spawn(function () { echo "x "; suspend(); echo "y "; });
    echo "b ";
    suspend();
    echo "c ";
    spawn(function () { echo "d "; });
});
spawn(function () { echo "i "; });
?>
--EXPECT--
a b i x c y d
