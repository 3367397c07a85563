--TEST--
Trace 24: the slot goes to the next queued sender
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(0);
spawn(function () use ($c) { $c->send("first"); echo "S1 returned\n"; });
spawn(function () use ($c) { $c->send("second"); echo "S2 returned\n"; });
suspend();
var_dump($c->recv(), $c->sendAsync("x"));
suspend();
var_dump($c->recv());
suspend();
--EXPECT--
string(5) "first"
bool(false)
S1 returned
string(6) "second"
S2 returned
