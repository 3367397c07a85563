--TEST--
An exception of main: the others unwind, then the report, then shutdown functions
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () {
    try {
        delay(10000);
    } finally {
        echo "other unwinds\n";
    }
});
spawn(function () { suspend(); suspend(); echo "never\n"; });
suspend();
throw new LogicException('main');
?>
--EXPECTF--
other unwinds

Fatal error: Uncaught LogicException: main in %s002-uncaught-in-main.php:14
Stack trace:
#0 {main}
  thrown in %s002-uncaught-in-main.php on line 14
shutdown
