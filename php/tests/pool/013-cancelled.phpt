--TEST--
Pool: cancelled while it waits in acquire, in the factory, in hooks
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await, delay};
$p = new Pool(fn() => 'r', fn($r) => print("destroy $r\n"), max: 1);
$r = $p->acquire();
$w = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
suspend();
$w->cancel();
suspend();
$p->release($r);
tell(fn() => [count($p), $p->idleCount(), $p->activeCount()]);
echo "in the factory\n";
$p = new Pool(function () { delay(1000); return 'r'; }, max: 1);
$w = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
suspend();
tell(fn() => [count($p), $p->activeCount(), $p->tryAcquire()]);
$w->cancel();
suspend();
tell(fn() => [count($p), $p->activeCount()]);
echo "in beforeAcquire\n";
$p = new Pool(fn() => 'r', fn($r) => print("destroy $r\n"), beforeAcquire: function () { delay(1000); return true; }, min: 1, max: 1);
$w = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
suspend();
tell(fn() => [count($p), $p->idleCount(), $p->activeCount()]);
$w->cancel();
suspend();
tell(fn() => [count($p), $p->idleCount(), $p->activeCount()]);
echo "the wait of somebody else goes on\n";
$p = new Pool(fn() => 'r', max: 1);
$r = $p->acquire();
$first = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
$second = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
suspend();
$first->cancel();
suspend();
$p->release($r);
await($second);
--EXPECT--
Async\AsyncCancellation: Coroutine cancelled
[1,1,0]
in the factory
destroy r
[1,1,null]
Async\AsyncCancellation: Coroutine cancelled
[0,0]
in beforeAcquire
[1,0,1]
destroy r
Async\AsyncCancellation: Coroutine cancelled
[0,0,0]
the wait of somebody else goes on
Async\AsyncCancellation: Coroutine cancelled
"r"
