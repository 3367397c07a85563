--TEST--
Trace 26: two workers take turns
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$p = new Pool(fn () => new stdClass, max: 1);
foreach (["A", "B"] as $w) { spawn(function () use ($p, $w) { for ($i = 0; $i < 3; $i++) { $r = $p->acquire(); echo "$w$i "; suspend(); $p->release($r); } }); }
--EXPECT--
A0 B0 A1 B1 A2 B2
