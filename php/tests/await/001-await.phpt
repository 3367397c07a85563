--TEST--
await(): values, exceptions, tokens
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, timeout, delay};
use Async\{Future, FutureState, AsyncCancellation};

function outcome(Closure $action): void {
    try {
        var_dump($action());
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage();
        for ($p = $e->getPrevious(); $p !== null; $p = $p->getPrevious()) {
            echo ' <- ', $p::class, ': ', $p->getMessage();
        }
        echo "\n";
    }
}
$done = spawn(fn() => 1);
suspend();
outcome(fn() => await($done));
outcome(fn() => await($done));

$slow = spawn(function () { delay(10); echo "slow goes on\n"; return 'slow'; });
outcome(fn() => await($slow, timeout(1)));
outcome(fn() => await($slow));

$token = spawn(fn() => 'normal');
outcome(fn() => await(spawn(fn() => delay(2)), $token));
outcome(fn() => await(spawn(fn() => delay(2)), $token));
outcome(fn() => await(new Future(new FutureState()), Future::failed(new LogicException('token'))));
$cancelled = spawn(fn() => suspend());
$cancelled->cancel(new AsyncCancellation('c'));
outcome(fn() => await(spawn(fn() => delay(2)), $cancelled));

// Its own failure first is not wrapped.
$mine = spawn(fn() => delay(100));
spawn(fn() => $mine->cancel(new AsyncCancellation('manual')));
outcome(fn() => await($mine, timeout(50)));

// The same object as awaitable and token.
$same = spawn(fn() => 'same');
outcome(fn() => await($same, $same));
outcome(fn() => await(timeout(1)));
?>
--EXPECT--
int(1)
int(1)
Async\OperationCanceledException: Operation has been cancelled <- Async\TimeoutException: Timeout occurred after 1 milliseconds
slow goes on
string(4) "slow"
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled <- LogicException: token
Async\OperationCanceledException: Operation has been cancelled <- Async\AsyncCancellation: c
Async\AsyncCancellation: manual
string(4) "same"
Async\TimeoutException: Timeout occurred after 1 milliseconds
