--TEST--
Trace 48: three senders on capacity 2 and one receiver of three
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(2);
for ($i = 1; $i <= 3; $i++) { spawn(function () use ($c, $i) { $c->send($i); echo "S$i sent\n"; }); }
spawn(function () use ($c) { $n = 0; for ($i = 0; $i < 3; $i++) { $c->recv(); $n++; } echo "got $n\n"; });
--EXPECT--
S1 sent
S2 sent
S3 sent
got 3
