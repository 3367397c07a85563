--TEST--
max_execution_time ends the script in whichever coroutine runs
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () {
    try {
        delay(100000);
    } catch (Throwable) {
        echo "never\n";
    }
});
spawn(function () {
    set_time_limit(1);
    while (true);
});
try {
    delay(100000);
} finally {
    echo "never\n";
}
?>
--EXPECTF--

Fatal error: Maximum execution time of 1 second exceeded in %s on line 1%d
shutdown
