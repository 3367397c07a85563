--TEST--
What is spawned during a graceful shutdown is there, and cancelled before it begins
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await, graceful_shutdown};

spawn(function () {
    try {
        delay(10000);
    } finally {
        $late = spawn(function () { echo "never\n"; });
        var_dump($late::class, $late->isCancellationRequested(), $late->isStarted());
        try {
            await($late);
        } catch (Cancellation $e) {
            echo $e::class, ': ', $e->getMessage(), "\n";
        }
        var_dump($late->isCancelled());
    }
});
suspend();
graceful_shutdown();
$scope = new Async\Scope();
$other = $scope->spawn(function () { echo "never\n"; });
var_dump($other->isCancellationRequested());
?>
--EXPECT--
bool(true)
string(15) "Async\Coroutine"
bool(true)
bool(false)
Async\AsyncCancellation: Graceful shutdown
bool(true)
