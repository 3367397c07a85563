--TEST--
Channel: soft timers do not keep the loop alive, hard ones do; without timers the general rule
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Channel;
use function Async\{spawn, suspend, await, delay};
echo "soft, nothing else can happen\n";
$since = hrtime(true);
$c = new Channel(0, noProducerTimeout: 60000);
tell(fn() => $c->recv());
$c = new Channel(1, noConsumerTimeout: 60000);
$c->send(1);
tell(fn() => $c->send(2));
echo hrtime(true) - $since < 5e9 ? "at once\n" : "LATE\n";
echo "soft, something else goes on\n";
$c = new Channel(0, noProducerTimeout: 5);
spawn(fn() => delay(30));
tell(fn() => $c->recv());
echo "hard\n";
$c = new Channel(0, noProducerTimeout: 5, hardTimeouts: true);
tell(fn() => $c->recv());
echo "no timers\n";
$c = new Channel();
tell(fn() => $c->recv());
tell(fn() => [$c->isClosed(), $c->sendAsync('open'), $c->recv()]);
--EXPECT--
soft, nothing else can happen
Async\ChannelException: Channel is closed
  reason DEADLOCK
Async\ChannelException: Channel is closed
  reason DEADLOCK
at once
soft, something else goes on
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
hard
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
no timers
Async\AsyncCancellation: Deadlock detected
[false,true,"open"]

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 1 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
