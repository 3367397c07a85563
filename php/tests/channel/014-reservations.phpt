--TEST--
Channel: what a coroutine was woken for is its own until it runs
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, AsyncCancellation, FutureState, Future};
use function Async\{spawn, suspend, await};
echo "a value reserved for a woken receiver\n";
$c = new Channel(2);
$r = spawn(function () use ($c) { echo 'receiver got ' . $c->recv() . "\n"; });
suspend();
$c->send('v');
$future = $c->recvAsync();
tell(fn() => [count($c), $c->isEmpty(), $future->isCompleted()]);
$loop = spawn(function () use ($c) { foreach ($c as $v) { echo "loop got $v\n"; break; } });
suspend();
$c->send('for the future');
$c->send('for the loop');
tell(fn() => await($future));
await($loop);

echo "a slot reserved for a woken sender\n";
$c = new Channel(1);
$c->send(1);
$s = spawn(function () use ($c) { $c->send(2); echo "sender done\n"; });
suspend();
$c->recv();
tell(fn() => [$c->isFull(), count($c), $c->sendAsync(3)]);
$late = spawn(function () use ($c) { $c->send(4); echo "late done\n"; });
suspend();
tell(fn() => [$c->recv(), $c->recv()]);
await($late);

echo "who leaves by a token hands it on\n";
$c = new Channel(1);
$state = new FutureState();
$token = new Future($state);
$first = spawn(function () use ($c, $token) { tell(fn() => $c->recv($token)); });
$second = spawn(function () use ($c) { echo 'second got ' . $c->recv() . "\n"; });
suspend();
$c->send('handed on');
$first->cancel(new AsyncCancellation('gone'));
await($second);
$state->complete(null);

echo "with none left the value is free\n";
$only = spawn(function () use ($c) { tell(fn() => $c->recv()); });
suspend();
$c->send('free');
$only->cancel();
suspend();
tell(fn() => [count($c), $c->recv()]);

echo "with none left the slot is free\n";
$c = new Channel(1);
$c->send(1);
$only = spawn(function () use ($c) { tell(fn() => $c->send(2)); });
suspend();
$c->recv();
tell(fn() => $c->sendAsync('no'));
$only->cancel();
suspend();
tell(fn() => [$c->sendAsync('yes'), $c->recv()]);
--EXPECT--
a value reserved for a woken receiver
[1,false,false]
receiver got v
"for the future"
loop got for the loop
a slot reserved for a woken sender
[false,0,false]
sender done
late done
[2,4]
who leaves by a token hands it on
Async\AsyncCancellation: gone
second got handed on
with none left the value is free
Async\AsyncCancellation: Coroutine cancelled
[1,"free"]
with none left the slot is free
false
Async\AsyncCancellation: Coroutine cancelled
[true,"yes"]
