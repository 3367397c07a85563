--TEST--
Trace 25: a reserved receiver gets its value after closing, the other the closing
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(2);
$r = fn ($n) => spawn(function () use ($c, $n) {
    try { $c->recv(); echo "$n received\n"; } catch (ChannelException $e) { echo "$n: ", $e->getMessage(), "\n"; }
});
$r("R1"); $r("R2");
suspend();
$c->send(1);
$c->close();
suspend();
--EXPECT--
R1 received
R2: Channel is closed
