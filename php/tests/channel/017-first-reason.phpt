--TEST--
Channel: the first cause of closing is kept
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, Scope};
use function Async\{spawn, suspend, await};
$scope = new Scope();
$explicit = await($scope->spawn(fn() => new Channel(1)));
$disposed = await($scope->spawn(fn() => new Channel(1)));
$explicit->close();
$scope->cancel();
$disposed->close();
tell(fn() => $explicit->recv());
tell(fn() => $disposed->recv());
tell(fn() => $disposed->send(1));
$deadlock = new Channel(0, 10000);
tell(fn() => $deadlock->recv());
$deadlock->close();
tell(fn() => $deadlock->recv());
tell(fn() => [$deadlock->isClosed(), $deadlock->sendAsync(1)]);
--EXPECT--
Async\ChannelException: Channel is closed
  reason EXPLICIT
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
Async\ChannelException: Channel is closed
  reason DEADLOCK
Async\ChannelException: Channel is closed
  reason DEADLOCK
[true,false]
