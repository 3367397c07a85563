--TEST--
Suspended fibers when a fatal error ends the script
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

spawn(function () {
    $f = new Fiber(function () { try { Fiber::suspend(); } finally { echo "never\n"; } });
    $f->start();
    delay(10000);
});
spawn(function () { delay(2); eval('class Broken { function __clone(int $x) {} }'); });
delay(10000);
?>
--EXPECTF--

Fatal error: %s in %s on line %d
