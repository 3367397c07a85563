--TEST--
All that wait are cancelled in the order they were made; catching lets code go on
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use function Async\{spawn, await, suspend, delay};
use Async\{Future, FutureState, Channel};

$future = new Future(new FutureState());
foreach ([1, 2, 3] as $n) {
    spawn(function () use ($n, $future) {
        try {
            $n == 2 ? (new Channel())->recv() : await($future);
        } catch (Async\AsyncCancellation $e) {
            echo "$n ", $e::class, ' ', $e->getMessage(), ' ', var_export($e->getPrevious(), true), "\n";
        }
        delay(1);
        echo "$n ends\n";
        return $n;
    });
}
set_exception_handler(function ($e) { echo $e::class, ': ', $e->getMessage(), ' ', $e->getFile(), ':', $e->getLine(), ' ', count($e->getTrace()), "\n"; });
echo "main ends\n";
?>
--EXPECT--
main ends
1 Async\AsyncCancellation Deadlock detected NULL
2 Async\AsyncCancellation Deadlock detected NULL
3 Async\AsyncCancellation Deadlock detected NULL
1 ends
2 ends
3 ends
Async\DeadlockError: Deadlock detected: no active coroutines, 3 coroutines in waiting [no active file]:0 0
