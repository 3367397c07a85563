--TEST--
exit() in a fiber whose driver was cancelled ends the script
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{delay, spawn, suspend};

$fiber = new Fiber(function () {
    suspend();
    suspend();
    exit("exit\n");
});
$driver = spawn(fn() => $fiber->start());
suspend();
$driver->cancel();
delay(1000);
echo "never\n";
?>
--EXPECT--
exit
