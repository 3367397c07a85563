--TEST--
Timeout: whoever waits for one that is cancelled gets the cancellation itself
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{AsyncCancellation, Signal, Timeout};
use function Async\{await, await_all, await_any_or_fail, delay, signal, spawn, timeout};

function cancelled_soon(): Timeout {
    $timeout = timeout(60000);
    spawn(fn() => $timeout->cancel(new AsyncCancellation('called off')));
    return $timeout;
}

$timeout = timeout(60000);
$why = new AsyncCancellation('called off');
spawn(fn() => $timeout->cancel($why));
try {
    await($timeout);
} catch (AsyncCancellation $e) {
    var_dump($e === $why, $timeout->isCompleted(), $timeout->isCancelled());
}
tell(fn() => await($timeout));
tell(fn() => await_any_or_fail([cancelled_soon()]));
[$results, $errors] = await_all(['t' => cancelled_soon()]);
echo count($results), ' ', $errors['t']::class, ': ', $errors['t']->getMessage(), "\n";

echo "as a token\n";
$sleeper = spawn(fn() => delay(60000));
tell(fn() => await($sleeper, cancelled_soon()));
$sleeper->cancel();
tell(fn() => signal(Signal::SIGUSR1, cancelled_soon())->await());
$future = signal(Signal::SIGUSR1, $timeout = timeout(60000));
$timeout->cancel();
var_dump($future->isCompleted());
tell(fn() => $future->await());
--EXPECT--
bool(true)
bool(true)
bool(true)
Async\AsyncCancellation: called off
Async\AsyncCancellation: called off
0 Async\AsyncCancellation: called off
as a token
Async\OperationCanceledException: Operation has been cancelled
  previous Async\AsyncCancellation: called off
Async\AsyncCancellation: called off
bool(true)
Async\AsyncCancellation: Timeout cancelled
