--TEST--
Channel: a send that throws leaves nothing behind
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, FutureState, Future};
use function Async\{spawn, suspend, await, timeout};
$c = new Channel();
$s = spawn(function () use ($c) { tell(fn() => $c->send('never seen')); });
suspend();
echo count($c), "\n";
$s->cancel();
suspend();
echo count($c), "\n";
tell(fn() => $c->send('nor this', timeout(1)));
echo count($c), "\n";
// The slot goes to the next sender.
$a = spawn(function () use ($c) { tell(fn() => $c->send('a')); });
$b = spawn(function () use ($c) { tell(fn() => $c->send('b')); });
suspend();
$a->cancel();
suspend();
echo $c->recv(), "\n";
await($b);
// A full buffer: the value of a parked sender was never in it.
$c = new Channel(1);
$c->send(1);
$s = spawn(function () use ($c) { tell(fn() => $c->send(2)); });
suspend();
$s->cancel();
suspend();
tell(fn() => [count($c), $c->recv(), $c->isEmpty()]);
--EXPECT--
1
Async\AsyncCancellation: Coroutine cancelled
0
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 1 milliseconds
0
Async\AsyncCancellation: Coroutine cancelled
null
b
Async\AsyncCancellation: Coroutine cancelled
[1,1,true]
