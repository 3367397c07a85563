--TEST--
Trace 22: a delivered value survives cancellation and closing
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(0);
$r = spawn(function () use ($c) { try { $c->recv(); } catch (AsyncCancellation) { echo "cancelled\n"; } });
suspend();
$c->send("kept");
$r->cancel();
suspend();
$c->close();
var_dump($c->recv());
--EXPECT--
cancelled
string(4) "kept"
