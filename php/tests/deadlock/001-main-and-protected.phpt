--TEST--
Main and protected coroutines are cancelled too, in creation order
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use function Async\{spawn, await, protect};
use Async\{Future, FutureState};

$state = new FutureState();
$future = new Future($state);
spawn(function () use ($future) {
    try {
        protect(fn() => await($future));
    } finally {
        echo "protected\n";
    }
});
register_shutdown_function(function () { echo "shutdown\n"; });
try {
    await($future);
} catch (Async\AsyncCancellation $e) {
    echo 'main: ', $e->getMessage(), "\n";
}
echo "main ends\n";
?>
--EXPECT--
main: Deadlock detected
main ends
protected

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 2 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
shutdown
