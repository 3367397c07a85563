--TEST--
Timers that are due fire in the order of their deadlines, behind what is queued
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

spawn(function () { delay(6); echo "6\n"; });
spawn(function () { delay(2); echo "2\n"; });
spawn(function () { delay(4); echo "4\n"; });
suspend();
$until = hrtime(true) + 12e6;
while (hrtime(true) < $until);
spawn(function () { echo "queued\n"; });
delay(1);
echo "main\n";
?>
--EXPECT--
queued
2
4
6
main
