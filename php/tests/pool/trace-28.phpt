--TEST--
Trace 28: a cancelled waiter hands the place on
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$made = 0;
$p = new Pool(function () use (&$made) { $made++; return new stdClass; }, max: 1);
$r = $p->acquire();
$w = fn ($n) => spawn(function () use ($p, $n) {
    try { $r = $p->acquire(); echo "$n acquired\n"; $p->release($r); } catch (AsyncCancellation) { echo "$n cancelled\n"; }
});
$w1 = $w("W1"); $w2 = $w("W2");
suspend();
$p->release($r);
$w1->cancel();
await($w2);
var_dump($p->idleCount(), $made);
--EXPECT--
W1 cancelled
W2 acquired
int(1)
int(1)
