--TEST--
ob_start() inside an output handler is PHP's fatal error
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

spawn(function () {
    ob_start(function ($b) { ob_start(); return $b; });
    echo "x";
    ob_end_flush();
    echo "never\n";
});
delay(10000);
echo "never\n";
?>
--EXPECTF--
Fatal error: ob_start(): Cannot use output buffering in output buffering display handlers in %s on line %d
