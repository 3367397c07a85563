--TEST--
Pool: what acquire does, in order
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await};
function pool(...$more): Pool { static $n = 0; return new Pool(...['factory' => function () { static $n = 0; return 'r' . ++$n; }, 'destructor' => fn($r) => print("destroy $r\n"), ...$more]); }
echo "oldest idle first; made when there is none; none beyond max\n";
$p = pool(min: 2, max: 3);
tell(fn() => [$p->acquire(), $p->acquire(), $p->acquire(), $p->tryAcquire(), count($p), $p->activeCount(), $p->idleCount()]);
$p->release('r2'); $p->release('r3'); $p->release('r1');
tell(fn() => [$p->acquire(), $p->acquire(), $p->acquire()]);
echo "beforeAcquire: false destroys and tries the next, fresh ones are not asked\n";
$p = pool(min: 2, max: 2, beforeAcquire: function ($r) { echo "asked $r\n"; return $r === 'r5' || $r === 'r3'; });
tell(fn() => $p->acquire());
tell(fn() => $p->acquire());
tell(fn() => [count($p), $p->activeCount()]);
echo "beforeAcquire throws\n";
$p = pool(min: 1, max: 2, beforeAcquire: fn($r) => throw new LogicException('not this one'));
tell(fn() => $p->acquire());
tell(fn() => [count($p), $p->idleCount(), $p->activeCount()]);
echo "its destroy throws\n";
$p = pool(min: 1, max: 1, beforeAcquire: fn() => false, destructor: fn() => throw new DomainException('destroying'));
tell(fn() => $p->acquire());
tell(fn() => [count($p), $p->acquire()]);
echo "the factory throws\n";
$fail = true;
$p = new Pool(function () use (&$fail) { return $fail ? throw new LogicException('factory') : 'made'; }, max: 1);
tell(fn() => $p->acquire());
tell(fn() => $p->tryAcquire());
tell(fn() => [count($p), $p->activeCount()]);
$fail = false;
tell(fn() => $p->acquire());
echo "waiting in order of arrival\n";
foreach ([1, 2, 3] as $i) { spawn(function () use ($p, $i) { $r = $p->acquire(); echo "$i got $r\n"; $p->release($r); }); }
suspend();
tell(fn() => $p->tryAcquire());
$p->release('made');
suspend(); suspend(); suspend();
echo "timeout\n";
$r = $p->acquire();
tell(fn() => $p->acquire(5));
tell(fn() => $p->acquire(timeout: 1));
tell(fn() => is_subclass_of(Async\TimeoutException::class, Async\PoolException::class));
tell(fn() => [count($p), $p->activeCount()]);
$p->release($r);
tell(fn() => $p->acquire(1));
--EXPECT--
oldest idle first; made when there is none; none beyond max
["r1","r2","r3",null,3,3,0]
["r2","r3","r1"]
beforeAcquire: false destroys and tries the next, fresh ones are not asked
asked r1
destroy r1
asked r2
destroy r2
"r3"
"r4"
[2,2]
beforeAcquire throws
destroy r1
"r2"
[1,0,1]
its destroy throws
DomainException: destroying
[0,"r2"]
the factory throws
LogicException: factory
LogicException: factory
[0,0]
"made"
waiting in order of arrival
null
1 got made
2 got made
3 got made
timeout
Async\TimeoutException: No resource of the pool became free in 5 milliseconds
Async\TimeoutException: No resource of the pool became free in 1 milliseconds
false
[1,1]
"made"
