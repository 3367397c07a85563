--TEST--
Channel: recvAsync() arms the timer also as the first asynchronous call of a script
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Channel;
use function Async\{delay, get_coroutines, spawn};
(new Channel(0, 10))->close();
$plain = (new Channel())->recvAsync()->ignore();
$full = new Channel(1, 10);
$full->sendAsync('here');
$ready = $full->recvAsync();
echo count(get_coroutines()), "\n";

$hard = (new Channel(0, 10, 0, true));
$future = $hard->recvAsync();
tell(fn() => $future->await());
tell(fn() => $ready->await());
--EXPECT--
0
Async\ChannelException: Channel is closed
  reason NO_PRODUCERS
"here"
