--TEST--
Trace 27: six workers, three rounds
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$p = new Pool(fn () => new stdClass, max: 1);
for ($w = 0; $w < 6; $w++) { spawn(function () use ($p, $w) { for ($i = 0; $i < 3; $i++) { $r = $p->acquire(); echo $w; $p->release($r); suspend(); } }); }
--EXPECT--
012345012345012345
