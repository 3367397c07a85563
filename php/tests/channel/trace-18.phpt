--TEST--
Trace 18: capacity 2, the third send parks
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
$c = new Channel(2);
spawn(function () use ($c) { foreach (["first", "second", "third"] as $v) { $c->send($v); echo "$v send done\n"; } });
spawn(function () use ($c) { suspend(); suspend(); echo "received ", $c->recv(), "\n"; });
--EXPECT--
first send done
second send done
received first
third send done
