--TEST--
Channel: timeouts of parked receivers and senders
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Channel;
use function Async\{spawn, suspend, await, delay};
$since = hrtime(true);
function passed(int $at_least): void {
    global $since;
    $ms = (hrtime(true) - $since) / 1e6;
    echo $ms >= $at_least ? "waited\n" : "EARLY $ms\n";
    $since = hrtime(true);
}
echo "no producers: all get it\n";
$c = new Channel(1, noProducerTimeout: 10, hardTimeouts: true);
foreach ([1, 2] as $i) { spawn(function () use ($c) { tell(fn() => $c->recv()); }); }
tell(fn() => $c->recv());
passed(10);
tell(fn() => $c->isClosed());
suspend();
echo "no consumers\n";
$c = new Channel(1, noConsumerTimeout: 10, hardTimeouts: true);
$c->send('held');
tell(fn() => $c->send('refused'));
passed(10);
tell(fn() => [count($c), $c->recv()]);
tell(fn() => $c->recv());
echo "an unbuffered sender\n";
$c = new Channel(0, noConsumerTimeout: 5, hardTimeouts: true);
tell(fn() => $c->send('refused'));
echo "it starts anew with each wait\n";
$c = new Channel(1, noProducerTimeout: 60, hardTimeouts: true);
spawn(function () use ($c) { for ($i = 0; $i < 3; $i++) { delay(30); $c->send($i); } });
$since = hrtime(true);
for ($i = 0; $i < 3; $i++) { tell(fn() => $c->recv()); }
passed(90);
tell(fn() => $c->recv());
passed(60);
echo "the other side has no timer\n";
$c = new Channel(0, noConsumerTimeout: 1, hardTimeouts: true);
spawn(function () use ($c) { delay(5); $c->send('came'); });
tell(fn() => $c->recv());
echo "pending futures get it too\n";
$c = new Channel(1, noProducerTimeout: 5, hardTimeouts: true);
$f = $c->recvAsync();
tell(fn() => $c->recv());
tell(fn() => $f->await());
--EXPECT--
no producers: all get it
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
waited
true
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
no consumers
Async\ChannelException: Channel is closed
  reason NO_CONSUMERS
waited
[1,"held"]
Async\ChannelException: Channel is closed
  reason NO_CONSUMERS
an unbuffered sender
Async\ChannelException: Channel is closed
  reason NO_CONSUMERS
it starts anew with each wait
0
1
2
waited
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
waited
the other side has no timer
"came"
pending futures get it too
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
