--TEST--
delay(0) and negative delays yield like suspend()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, delay};

spawn(function () { echo "a1 "; delay(0); echo "a2 "; delay(-5); echo "a3 "; });
spawn(function () { echo "b1 "; delay(0); echo "b2 "; delay(0); echo "b3 "; });
?>
--EXPECT--
a1 b1 a2 b2 a3 b3
