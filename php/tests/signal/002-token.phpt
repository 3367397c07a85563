--TEST--
signal(): a token rejects the future with its own exception, or cancels it
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{AsyncCancellation, Future, FutureState, Signal};
use function Async\{signal, spawn, await, timeout, suspend, delay};

function outcome(Future $future): void {
    try {
        var_dump($future->await());
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), ' (', $e->getPrevious() === null ? 'no previous' : 'previous', ")\n";
    }
}

outcome(signal(Signal::SIGUSR1, timeout(5)));

$late = signal(Signal::SIGUSR1, timeout(5));
delay(20);
var_dump($late->isCompleted());
outcome($late);

$worker = spawn(function () { suspend(); return 1; });
$future = signal(Signal::SIGUSR1, $worker);
outcome($future);
var_dump($future->isCancelled());

$state = new FutureState();
$future = signal(Signal::SIGUSR1, new Future($state));
$state->error(new LogicException('enough'));
var_dump($future->isCompleted(), $future->isCancelled());
outcome($future);

$future = signal(Signal::SIGUSR1, $worker);
var_dump($future->isCompleted());
outcome($future);

$future = signal(Signal::SIGUSR1, Future::failed(new LogicException('already')));
var_dump($future->isCompleted());
outcome($future);

$cancelled = spawn(fn() => delay(1000));
$future = signal(Signal::SIGUSR1, $cancelled);
$cancelled->cancel(new AsyncCancellation('mine'));
outcome($future);
?>
--EXPECT--
Async\TimeoutException: Timeout occurred after 5 milliseconds (no previous)
bool(true)
Async\TimeoutException: Timeout occurred after 5 milliseconds (no previous)
Async\AsyncCancellation: Signal wait cancelled (no previous)
bool(true)
bool(true)
bool(false)
LogicException: enough (no previous)
bool(true)
Async\AsyncCancellation: Signal wait cancelled (no previous)
bool(true)
LogicException: already (no previous)
Async\AsyncCancellation: mine (no previous)
