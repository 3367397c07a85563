--TEST--
ThreadChannel between coroutines: order, waiting, closing, tokens, wrong arguments
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{ThreadChannel, Future, FutureState};
use function Async\{spawn, suspend, await, timeout, delay};
foreach ([0, -1, PHP_INT_MAX] as $capacity) { tell(fn() => new ThreadChannel($capacity)); }
$c = new ThreadChannel();
tell(fn() => [$c->capacity(), count($c), $c->isEmpty(), $c->isFull(), $c->isClosed()]);
tell(fn() => $c->other = 1);
tell(fn() => serialize($c));
tell(fn() => clone $c);
tell(fn() => $c->send());
tell(fn() => $c->recv(1));
echo "at top level\n";
$c = new ThreadChannel(2);
$c->send('a');
$c->send('b');
tell(fn() => [count($c), $c->isFull(), $c->isEmpty()]);
tell(fn() => [$c->recv(), $c->recv()]);
echo "parks while full, while empty\n";
spawn(function () use ($c) { foreach ([1, 2, 3, 4] as $v) { $c->send($v); echo "sent $v\n"; } });
suspend();
for ($i = 0; $i < 4; $i++) { echo 'got ' . $c->recv() . "\n"; suspend(); }
$r = spawn(fn() => $c->recv());
suspend();
$c->send('late');
tell(fn() => await($r));
echo "tokens\n";
tell(fn() => $c->recv(timeout(1)));
tell(fn() => $c->recv(Future::completed()));
$c->send(1); $c->send(2);
tell(fn() => $c->send(3, timeout(1)));
tell(fn() => [count($c), $c->recv(), $c->recv()]);
echo "one event wakes several, losers park again\n";
foreach (['A', 'B'] as $n) { spawn(function () use ($c, $n) { tell(fn() => $n . $c->recv()); }); }
suspend();
$c->send('x');
suspend();
$c->send('y');
suspend();
echo "cancelled\n";
$r = spawn(function () use ($c) { tell(fn() => $c->recv()); });
suspend();
$r->cancel();
suspend();
echo "closing\n";
$c->send('stays');
$w = spawn(function () use ($c) { tell(fn() => [$c->recv(), $c->recv()]); });
$c->close();
$c->close();
tell(fn() => [$c->isClosed(), count($c)]);
tell(fn() => $c->send(1));
await($w);
tell(fn() => $c->recv());
$c = new ThreadChannel(1);
$w = spawn(function () use ($c) { tell(fn() => $c->recv()); });
suspend();
$c->close();
await($w);
echo "no scope owns it\n";
$scope = new Async\Scope();
$c = await($scope->spawn(fn() => new ThreadChannel(1)));
$scope->cancel();
tell(fn() => $c->isClosed());
tell(fn() => get_parent_class(Async\ThreadChannelException::class));
--EXPECT--
ValueError: Async\ThreadChannel::__construct(): Argument #1 ($capacity) must be between 1 and 2147483647
ValueError: Async\ThreadChannel::__construct(): Argument #1 ($capacity) must be between 1 and 2147483647
ValueError: Async\ThreadChannel::__construct(): Argument #1 ($capacity) must be between 1 and 2147483647
[16,0,true,false,false]
Error: Cannot create dynamic property Async\ThreadChannel::$other
Exception: Serialization of 'Async\ThreadChannel' is not allowed
Error: Trying to clone an uncloneable object of class Async\ThreadChannel
ArgumentCountError: Async\ThreadChannel::send() expects at least 1 argument, 0 given
TypeError: Async\ThreadChannel::recv(): Argument #1 ($cancellationToken) must be of type ?Async\Completable, int given
at top level
[2,true,false]
["a","b"]
parks while full, while empty
sent 1
sent 2
got 1
sent 3
got 2
sent 4
got 3
got 4
"late"
tokens
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 1 milliseconds
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 1 milliseconds
[2,1,2]
one event wakes several, losers park again
"Ax"
"By"
cancelled
Async\AsyncCancellation: Coroutine cancelled
closing
[true,1]
Async\ThreadChannelException: ThreadChannel is closed
Async\ThreadChannelException: ThreadChannel is closed
Async\ThreadChannelException: ThreadChannel is closed
Async\ThreadChannelException: ThreadChannel is closed
no scope owns it
false
"Async\\AsyncException"
