--TEST--
The messages of cancellations nobody has given a text
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, delay, graceful_shutdown};
use Async\{Scope, TaskGroup, Future, FutureState};

function waits(string $name): Closure {
    return function () use ($name) {
        try { delay(10000); } catch (Cancellation $e) { echo $name, ': ', $e::class, ' ', $e->getMessage(), "\n"; throw $e; }
    };
}
spawn(waits('coroutine'))->asHiPriority();
$c = spawn(waits('coroutine'));
suspend();
$c->cancel();
$scope = (new Scope())->asNotSafely();
$scope->spawn(waits('scope'));
$dropped = (new Scope())->asNotSafely();
$dropped->spawn(waits('dropped scope'));
$group = new TaskGroup(scope: new Scope());
$group->spawn(waits('group'));
suspend();
$scope->cancel();
unset($dropped);
$group->cancel();
suspend();
suspend();
$future = new Future(new FutureState());
$future->cancel();
try { await($future); } catch (Cancellation $e) { echo 'future: ', $e->getMessage(), "\n"; }
try { await($future, Future::completed()); } catch (Cancellation $e) { echo 'token: ', $e::class, ' ', $e->getMessage(), "\n"; }
graceful_shutdown();
try { suspend(); } catch (Cancellation $e) { echo 'main: ', $e->getMessage(), "\n"; }
?>
--EXPECT--
coroutine: Async\AsyncCancellation Coroutine cancelled
scope: Async\AsyncCancellation Scope was cancelled
dropped scope: Async\AsyncCancellation Scope is being disposed due to object destruction
group: Async\AsyncCancellation TaskGroup cancelled
future: Future has been cancelled
token: Async\OperationCanceledException Operation has been cancelled
main: Graceful shutdown
coroutine: Async\AsyncCancellation Graceful shutdown
