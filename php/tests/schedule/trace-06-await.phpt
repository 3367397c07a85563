--TEST--
Trace 6: awaiting lets the others run and gives the result
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

$c = spawn(function () { echo "c\n"; suspend(); return "r\n"; });
spawn(function () { echo "w\n"; });
echo await($c);
?>
--EXPECT--
c
w
r
