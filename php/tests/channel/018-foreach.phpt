--TEST--
Channel: foreach
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, Scope, AsyncCancellation};
use function Async\{spawn, suspend, await};
echo "closed and drained\n";
$c = new Channel(3);
$c->send('a'); $c->send('b'); $c->close();
foreach ($c as $v) { echo "$v\n"; }
foreach ($c as $v) { echo "nothing is left\n"; }
echo "parked when it is closed\n";
$c = new Channel();
$loop = spawn(function () use ($c) { foreach ($c as $v) { echo "got $v\n"; } echo "loop ended\n"; });
suspend();
$c->send(1);
suspend();
$c->close();
await($loop);
echo "break leaves the rest\n";
$c = new Channel(3);
$c->send(1); $c->send(2); $c->send(3); $c->close();
foreach ($c as $v) { if ($v === 2) { break; } }
tell(fn() => [count($c), $c->recv()]);
echo "another reason is thrown\n";
$scope = new Scope();
$c = await($scope->spawn(fn() => new Channel(2)));
$c->send('held');
$scope->dispose();
tell(function () use ($c) { foreach ($c as $v) { echo "got $v\n"; } });
$c = new Channel(0, 1, hardTimeouts: true);
tell(function () use ($c) { foreach ($c as $v) {} });
$c = new Channel(0, 1000);
tell(function () use ($c) { foreach ($c as $v) {} });
echo "by reference\n";
$c = new Channel();
tell(function () use ($c) { foreach ($c as &$v) {} });
echo "cancelled while it waits\n";
$loop = spawn(function () use ($c) { tell(function () use ($c) { foreach ($c as $v) {} }); });
suspend();
$loop->cancel();
suspend();
tell(fn() => $c->isClosed());
echo "two loops share the values\n";
$c = new Channel(2);
foreach (['A', 'B'] as $n) { spawn(function () use ($c, $n) { foreach ($c as $v) { echo "$n$v\n"; suspend(); } }); }
foreach ([1, 2, 3, 4] as $v) { $c->send($v); }
$c->close();
turns(4);
echo "the iterator itself\n";
$c = new Channel(2);
$c->send('x'); $c->send('y'); $c->close();
$iterator = $c->getIterator();
tell(fn() => [$iterator instanceof Iterator, iterator_to_array($c, false)]);
$c = new Channel(2);
$c->send('x'); $c->send('y'); $c->close();
tell(fn() => [...$c]);
function values(Channel $c) { yield from $c; }
$c = new Channel(2);
$c->send('x'); $c->send('y'); $c->close();
foreach (values($c) as $v) { echo "$v\n"; }
--EXPECT--
closed and drained
a
b
parked when it is closed
got 1
loop ended
break leaves the rest
[1,3]
another reason is thrown
got held
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
Async\ChannelException: Channel is closed
  reason DEADLOCK
by reference
Error: Cannot iterate channel by reference
cancelled while it waits
Async\AsyncCancellation: Coroutine cancelled
false
two loops share the values
A1
B2
A3
B4
the iterator itself
[true,["x","y"]]
["x","y"]
x
y
