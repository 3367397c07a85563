--TEST--
Trace 15: zombies of a safe scope run to their end
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = (new Scope)->allowZombies();
foreach ([1, 2] as $i) { $s->spawn(function () use ($i) { suspend(); suspend(); echo "$i done\n"; }); }
suspend();
$s->cancel();
await(spawn(function () use ($s) { $s->awaitAfterCancellation(); echo "waiter\n"; }));
var_dump($s->isFinished(), $s->isClosed());
--EXPECT--
1 done
2 done
waiter
bool(true)
bool(true)
