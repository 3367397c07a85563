--TEST--
Channel: a soft timer of recvAsync() before the scheduler ends a wait for nothing
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Channel;
$channel = new Channel(0, 60000);
$future = $channel->recvAsync();
tell(fn() => $future->await());
--EXPECT--
Async\ChannelException: Channel is closed
  reason DEADLOCK
