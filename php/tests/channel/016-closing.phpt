--TEST--
Channel: closing
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Channel;
use function Async\{spawn, suspend, await};
$c = new Channel(3);
$c->send(1);
$c->send(2);
tell(fn() => $c->close());
tell(fn() => $c->close());
tell(fn() => [$c->isClosed(), count($c), $c->isEmpty(), $c->capacity()]);
tell(fn() => $c->send(3));
tell(fn() => $c->sendAsync(3));
tell(fn() => $c->recv());
tell(fn() => $c->recvAsync()->await());
tell(fn() => $c->recv());
$future = $c->recvAsync();
tell(fn() => [$future->isCompleted(), $future->isCancelled()]);
tell(fn() => $future->await());

echo "those who wait\n";
$c = new Channel();
foreach (['A', 'B'] as $n) {
    spawn(function () use ($c, $n) { echo "$n waits\n"; tell(fn() => $c->recv()); });
}
suspend();
$future = $c->recvAsync();
$c->close();
echo "the closing one goes on first\n";
suspend();
tell(fn() => $future->await());

echo "senders\n";
$c = new Channel();
foreach ([1, 2, 3] as $v) {
    spawn(function () use ($c, $v) { tell(fn() => [$c->send($v), $v]); });
}
suspend();
echo $c->recv(), "\n";
$c->close();
tell(fn() => count($c));
suspend();
tell(fn() => $c->recv());
$c = new Channel(1);
$c->send('stays');
spawn(function () use ($c) { tell(fn() => $c->send('refused')); });
suspend();
$c->close();
suspend();
tell(fn() => [count($c), $c->recv()]);
--EXPECT--
null
null
[true,2,false,3]
Async\ChannelException: Channel is closed
  reason EXPLICIT
false
1
2
Async\ChannelException: Channel is closed
  reason EXPLICIT
[true,false]
Async\ChannelException: Channel is closed
  reason EXPLICIT
those who wait
A waits
B waits
the closing one goes on first
Async\ChannelException: Channel is closed
  reason EXPLICIT
Async\ChannelException: Channel is closed
  reason EXPLICIT
Async\ChannelException: Channel is closed
  reason EXPLICIT
senders
1
0
[null,1]
Async\ChannelException: Channel is closed
  reason EXPLICIT
Async\ChannelException: Channel is closed
  reason EXPLICIT
Async\ChannelException: Channel is closed
  reason EXPLICIT
Async\ChannelException: Channel is closed
  reason EXPLICIT
[1,"stays"]
