--TEST--
Channel: cancellation tokens of send and recv
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, Future, FutureState, AsyncCancellation};
use function Async\{spawn, suspend, await, timeout, delay};
$c = new Channel();
echo "a timeout\n";
tell(fn() => $c->recv(timeout(2)));
tell(fn() => $c->send('x', timeout(2)));
echo "completed while it waits\n";
$state = new FutureState();
spawn(fn() => $state->complete('ignored'));
tell(fn() => $c->recv(new Future($state)));
$state = new FutureState();
spawn(fn() => $state->complete('ignored'));
tell(fn() => $c->send(1, new Future($state)));
echo "failed while it waits\n";
$state = new FutureState();
spawn(fn() => $state->error(new LogicException('E')));
tell(fn() => $c->recv(new Future($state)));
echo "ended before\n";
tell(fn() => $c->recv(Future::failed(new LogicException('before'))));
tell(fn() => $c->send(1, Future::failed(new LogicException('before'))));
tell(fn() => $c->recv(Future::completed()));
tell(fn() => $c->send(1, Future::completed()));
echo "a coroutine\n";
tell(fn() => $c->recv(spawn(fn() => 5)));
tell(fn() => $c->recv(spawn(fn() => throw new AsyncCancellation('mine'))));
echo "a pending token does not hold up what can be done at once\n";
$b = new Channel(1);
tell(fn() => $b->send('now', new Future(new FutureState())));
tell(fn() => $b->recv(new Future(new FutureState())));
echo "the channel stays usable\n";
spawn(fn() => $c->send('fine'));
tell(fn() => $c->recv(timeout(1000)));
tell(fn() => [count($c), $c->isClosed()]);
echo "cancelling a parked coroutine\n";
foreach (['recv', 'send'] as $call) {
    $parked = spawn(function () use ($c, $call) { tell(fn() => $call === 'recv' ? $c->recv() : $c->send(1)); });
    suspend();
    $parked->cancel();
    suspend();
}
spawn(fn() => $c->send('still fine'));
tell(fn() => $c->recv());
--EXPECT--
a timeout
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 2 milliseconds
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 2 milliseconds
completed while it waits
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
failed while it waits
Async\OperationCanceledException: Operation has been cancelled
  previous LogicException: E
ended before
Async\OperationCanceledException: Operation has been cancelled
  previous LogicException: before
Async\OperationCanceledException: Operation has been cancelled
  previous LogicException: before
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
a coroutine
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
  previous Async\AsyncCancellation: mine
a pending token does not hold up what can be done at once
null
"now"
the channel stays usable
"fine"
[0,false]
cancelling a parked coroutine
Async\AsyncCancellation: Coroutine cancelled
Async\AsyncCancellation: Coroutine cancelled
"still fine"
