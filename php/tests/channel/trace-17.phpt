--TEST--
Trace 17: capacity 0, sender first
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(0);
spawn(function () use ($c) { echo "send-begin\n"; $c->send(1); echo "send-end\n"; });
spawn(function () use ($c) { echo "recv-begin\n"; $c->recv(); echo "received\n"; });
--EXPECT--
send-begin
recv-begin
received
send-end
