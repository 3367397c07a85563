--TEST--
Trace 21: a delivery is never undone
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(0);
$r = fn ($n) => spawn(function () use ($c, $n) {
    try { $c->recv(); echo "$n received\n"; } catch (AsyncCancellation) { echo "$n cancelled\n"; }
});
$r1 = $r("R1"); $r2 = $r("R2");
suspend();
$c->send(1); echo "sender done\n";
$r1->cancel();
await($r2);
--EXPECT--
sender done
R1 cancelled
R2 received
