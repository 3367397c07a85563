--TEST--
Deadlock resolution reaches coroutines inside protect()
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use function Async\{spawn, await, protect};
use Async\{Future, FutureState};

$future = new Future(new FutureState());
spawn(function () use ($future) {
    protect(function () use ($future) {
        try { await($future); } catch (Async\AsyncCancellation $e) { echo $e->getMessage(), "\n"; }
    });
    echo "goes on\n";
});
set_exception_handler(function ($e) { echo $e::class, ': ', $e->getMessage(), "\n"; });
?>
--EXPECT--
Deadlock detected
goes on
Async\DeadlockError: Deadlock detected: no active coroutines, 1 coroutines in waiting
