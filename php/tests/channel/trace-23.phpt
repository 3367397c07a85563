--TEST--
Trace 23: a sender whose value was taken returns normally
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(0);
spawn(function () use ($c) { $c->send("v"); echo "returned\n"; });
suspend();
var_dump($c->recv());
$c->close();
suspend();
--EXPECT--
string(1) "v"
returned
