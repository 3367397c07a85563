--TEST--
graceful_shutdown(): all are cancelled, those that never started are dropped
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, graceful_shutdown};

register_shutdown_function(function () { echo "shutdown function\n"; });
$started = spawn(function () {
    try {
        delay(10000);
    } catch (Cancellation $e) {
        echo "cancelled: ", $e->getMessage(), "\n";
        suspend();
        echo "cleaned up\n";
    }
});
suspend();
$never = spawn(function () { echo "never\n"; });
graceful_shutdown(new Async\AsyncCancellation('time to go'));
echo "main goes on to its next suspension\n";
try {
    suspend();
    echo "not reached\n";
} finally {
    echo "main unwinds\n";
}
?>
--EXPECT--
main goes on to its next suspension
main unwinds
cancelled: time to go
cleaned up
shutdown function
