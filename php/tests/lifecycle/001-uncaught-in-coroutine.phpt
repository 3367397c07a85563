--TEST--
An exception nobody can observe: shutdown, then the usual report
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
suspend();
spawn(function () { throw new LogicException('E'); });
try {
    delay(10000);
} finally {
    echo "main unwinds\n";
}
echo "not reached\n";
?>
--EXPECTF--
main unwinds
other unwinds

Fatal error: Uncaught LogicException: E in %s001-uncaught-in-coroutine.php:13
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s001-uncaught-in-coroutine.php on line 13
shutdown
