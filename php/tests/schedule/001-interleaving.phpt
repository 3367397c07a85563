--TEST--
FIFO: A suspends twice, B once, C never
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

spawn(function () { echo "A1 "; suspend(); echo "A2 "; suspend(); echo "A3 "; });
spawn(function () { echo "B1 "; suspend(); echo "B2 "; });
spawn(function () { echo "C "; });
?>
--EXPECT--
A1 B1 C A2 B2 A3
