--TEST--
Trace 19: a freed place is reserved for the parked sender
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(1);
$c->send("v");
$s = spawn(function () use ($c) { $c->send("w"); echo "S1 done\n"; });
suspend();
var_dump($c->recv(), $c->isFull(), $c->sendAsync("x"));
await($s);
var_dump($c->recv());
--EXPECT--
string(1) "v"
bool(false)
bool(false)
S1 done
string(1) "w"
