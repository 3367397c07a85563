--TEST--
Channel: futures of recvAsync
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, Future};
use function Async\{spawn, suspend, await, await_all};
$c = new Channel(3);
$c->send('there');
$f = $c->recvAsync();
tell(fn() => [$f->isCompleted(), $f->await(), $f->await(), count($c)]);
echo "pending, in order\n";
$f = $c->recvAsync();
$g = $c->recvAsync();
tell(fn() => [$f->isCompleted(), $g->isCompleted()]);
$c->send(1);
tell(fn() => [$f->isCompleted(), $g->isCompleted(), count($c)]);
$c->send(2);
tell(fn() => await_all([$g, $f]));
echo "a receiver that came first is served first\n";
$r = spawn(fn() => $c->recv());
suspend();
$f = $c->recvAsync();
$c->send('first');
$c->send('second');
tell(fn() => [await($r), await($f)]);
echo "dropped: its waiter goes\n";
$f = $c->recvAsync()->ignore();
unset($f);
$c->send('stored');
tell(fn() => [count($c), $c->recv()]);
$u = new Channel();
$f = $u->recvAsync()->ignore();
unset($f);
tell(fn() => [$u->sendAsync('x'), count($u)]);
echo "the channel goes first\n";
$c = new Channel();
$f = $c->recvAsync();
unset($c);
tell(fn() => $f->await());
echo "cancelled\n";
$c = new Channel(1);
$f = $c->recvAsync();
$f->cancel();
$c->send('kept');
tell(fn() => $f->await());
tell(fn() => [count($c), $c->recv()]);
echo "without a buffer\n";
$u = new Channel();
spawn(function () use ($u) { $u->send('value'); echo "sender returned\n"; });
suspend();
$f = $u->recvAsync();
tell(fn() => $f->isCompleted());
tell(fn() => await($f));
suspend();
echo "places\n";
$f = $u->recvAsync(); $line = __LINE__;
tell(fn() => $f->getCreatedFileAndLine() === [__FILE__, $line]);
$f->ignore();
--EXPECT--
[true,"there","there",0]
pending, in order
[false,false]
[true,false,0]
[[2,1],[]]
a receiver that came first is served first
["first","second"]
dropped: its waiter goes
[1,"stored"]
[true,1]
the channel goes first
Async\ChannelException: Channel is closed
  reason DISPOSED
cancelled
Async\AsyncCancellation: Future has been cancelled
[1,"kept"]
without a buffer
true
"value"
sender returned
places
true
