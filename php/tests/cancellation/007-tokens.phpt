--TEST--
Tokens of every kind end the wait and nothing else
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, await_all, timeout, delay};
use Async\{Future, FutureState, Channel, Scope, AsyncCancellation};

function outcome(string $name, Closure $action): void {
    try {
        $action();
        echo "$name: no exception\n";
    } catch (Async\OperationCanceledException $e) {
        echo "$name: ", $e->getMessage(), $e->getPrevious() ? ' <- ' . $e->getPrevious()::class . ' ' . $e->getPrevious()->getMessage() : '', "\n";
    }
}
$end = new FutureState();
$c = spawn(fn() => await(new Future($end)));
$scope = new Scope();
$scope->spawn(fn() => delay(10000));
$state = new FutureState();
$tokens = [
    'completed' => fn() => spawn(fn() => 'x'),
    'failed' => fn() => Future::failed(new DomainException('of the token')),
    'cancelled' => function () { $t = spawn(fn() => suspend()); $t->cancel(new AsyncCancellation('c')); return $t; },
    'timeout' => fn() => timeout(1),
];
foreach ($tokens as $kind => $token) {
    outcome("await, $kind", fn() => await($c, $token()));
    outcome("await_all, $kind", fn() => await_all([$c], $token()));
    outcome("Future, $kind", fn() => (new Future($state))->await($token()));
    outcome("recv, $kind", fn() => (new Channel())->recv($token()));
    outcome("send, $kind", fn() => (new Channel())->send(1, $token()));
    outcome("scope, $kind", fn() => $scope->awaitCompletion($token()));
}
$end->complete('unaffected');
var_dump(await($c), $scope->isCancelled());
$state->complete(1);
outcome('what can go on at once', function () { $ch = new Channel(1); $ch->sendAsync(5); var_dump($ch->recv(new Future(new FutureState()))); });
$scope->cancel();
foreach (['CancellationError', 'CancellationException', 'Async\CancellationError', 'Async\CancellationException'] as $gone) {
    if (class_exists($gone)) echo "$gone exists\n";
}
var_dump(method_exists('Async\Coroutine', 'onFinally'));
?>
--EXPECT--
await, completed: Operation has been cancelled
await_all, completed: Operation has been cancelled
Future, completed: Operation has been cancelled
recv, completed: Operation has been cancelled
send, completed: Operation has been cancelled
scope, completed: Operation has been cancelled
await, failed: Operation has been cancelled <- DomainException of the token
await_all, failed: Operation has been cancelled <- DomainException of the token
Future, failed: Operation has been cancelled <- DomainException of the token
recv, failed: Operation has been cancelled <- DomainException of the token
send, failed: Operation has been cancelled <- DomainException of the token
scope, failed: Operation has been cancelled <- DomainException of the token
await, cancelled: Operation has been cancelled <- Async\AsyncCancellation c
await_all, cancelled: Operation has been cancelled <- Async\AsyncCancellation c
Future, cancelled: Operation has been cancelled <- Async\AsyncCancellation c
recv, cancelled: Operation has been cancelled <- Async\AsyncCancellation c
send, cancelled: Operation has been cancelled <- Async\AsyncCancellation c
scope, cancelled: Operation has been cancelled <- Async\AsyncCancellation c
await, timeout: Operation has been cancelled <- Async\TimeoutException Timeout occurred after 1 milliseconds
await_all, timeout: Operation has been cancelled <- Async\TimeoutException Timeout occurred after 1 milliseconds
Future, timeout: Operation has been cancelled <- Async\TimeoutException Timeout occurred after 1 milliseconds
recv, timeout: Operation has been cancelled <- Async\TimeoutException Timeout occurred after 1 milliseconds
send, timeout: Operation has been cancelled <- Async\TimeoutException Timeout occurred after 1 milliseconds
scope, timeout: Operation has been cancelled <- Async\TimeoutException Timeout occurred after 1 milliseconds
string(10) "unaffected"
bool(false)
int(5)
what can go on at once: no exception
bool(false)
