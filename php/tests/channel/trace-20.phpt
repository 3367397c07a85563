--TEST--
Trace 20: a cancelled receiver hands its value on
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(1);
$r = fn ($n) => spawn(function () use ($c, $n) {
    try { $c->recv(); echo "$n received\n"; } catch (AsyncCancellation) { echo "$n cancelled\n"; }
});
$r1 = $r("R1"); $r2 = $r("R2");
suspend();
$c->send(1);
$r1->cancel();
await($r2);
var_dump(count($c));
--EXPECT--
R1 cancelled
R2 received
int(0)
