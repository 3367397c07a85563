--TEST--
Pool: a released place is reserved for the first waiter
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await, delay};
$p = new Pool(function () { static $n = 0; return 'r' . ++$n; }, fn($r) => print("destroy $r\n"), max: 2);
$a = $p->acquire();
$b = $p->acquire();
$w = spawn(function () use ($p) { $r = $p->acquire(); echo "waiter got $r\n"; return $r; });
suspend();
$p->release($a);
echo "not for the one who released it\n";
tell(fn() => [$p->tryAcquire(), $p->idleCount(), count($p)]);
echo "surplus is available\n";
$p->release($b);
tell(fn() => [$p->idleCount(), $c = $p->tryAcquire(), $p->tryAcquire()]);
$a = await($w);
$p->release($a);
$p->release('r2');
foreach (['cancel', 'breaker'] as $way) {
    echo "left by $way: handed to the next\n";
    $a = $p->acquire();
    $b = $p->acquire();
    $first = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
    $second = spawn(function () use ($p) { tell(fn() => $p->release($p->acquire())); });
    suspend();
    if ($way === 'breaker') { $p->release($a); $p->deactivate(); suspend(); $p->activate(); $p->release($b); await($second); }
    else { $p->release($a); if ($way === 'cancel') { $first->cancel(); } await($second); $p->release($b); }
    if (!$first->isCompleted()) { await($first); }
    tell(fn() => [$p->idleCount(), $p->activeCount()]);
}
echo "left by timeout\n";
$a = $p->acquire();
$b = $p->acquire();
$first = spawn(function () use ($p) { tell(fn() => $p->acquire(1)); });
$second = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
await($first);
$p->release($a);
await($second);
echo "with none left it is simply idle\n";
$p = new Pool(fn() => 'r', max: 1);
$r = $p->acquire();
$w = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
suspend();
$p->release($r);
$w->cancel();
suspend();
tell(fn() => [$p->idleCount(), $p->tryAcquire()]);
--EXPECT--
not for the one who released it
[null,1,2]
surplus is available
[2,"r1",null]
waiter got r2
left by cancel: handed to the next
Async\AsyncCancellation: Coroutine cancelled
null
[2,0]
left by breaker: handed to the next
Async\ServiceUnavailableException: Service is unavailable (circuit breaker is open)
Async\ServiceUnavailableException: Service is unavailable (circuit breaker is open)
[2,0]
left by timeout
Async\TimeoutException: No resource of the pool became free in 1 milliseconds
"r2"
with none left it is simply idle
Async\AsyncCancellation: Coroutine cancelled
[1,"r"]
