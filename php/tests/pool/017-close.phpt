--TEST--
Pool: closing
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await};
$n = 0;
$factory = function () use (&$n) { return 'r' . ++$n; };
$p = new Pool($factory, fn($r) => print("destroy $r\n"), min: 3, max: 3);
$r = $p->acquire();
tell(fn() => $p->close());
tell(fn() => $p->close());
tell(fn() => [$p->isClosed(), count($p), $p->idleCount(), $p->activeCount()]);
tell(fn() => $p->acquire());
tell(fn() => $p->tryAcquire());
tell(fn() => $p->release($r));
echo "who waits, and a reserved one\n";
$p = new Pool($factory, fn($r) => print("destroy $r\n"), max: 1);
$r = $p->acquire();
foreach ([1, 2] as $i) { spawn(function () use ($p) { tell(fn() => $p->acquire()); }); }
suspend();
$p->release($r);
$p->close();
echo "closed\n";
suspend();
tell(fn() => count($p));
echo "exceptions of destructors\n";
$n = 0;
$p = new Pool($factory, fn($r) => throw new LogicException("destroying $r"), min: 3, max: 3);
tell(fn() => $p->close());
tell(fn() => [$p->isClosed(), count($p)]);
echo "one of three\n";
$n = 0;
$p = new Pool($factory, fn($r) => $r === 'r2' ? throw new LogicException("destroying $r") : print("destroy $r\n"), min: 3, max: 3);
tell(fn() => $p->close());
echo "destroying the object\n";
$n = 0;
$p = new Pool($factory, fn($r) => print("destroy $r\n"), min: 2);
unset($p);
echo "while an exception is in flight\n";
tell(function () use ($factory) { $p = new Pool($factory, fn($r) => print("destroy $r\n"), min: 1); throw new DomainException('in flight'); });
tell(function () use ($factory) { $p = new Pool($factory, fn($r) => throw new LogicException('destroying'), min: 1); throw new DomainException('in flight'); });
--EXPECT--
destroy r2
destroy r3
null
null
[true,1,0,1]
Async\PoolException: Pool is closed
null
destroy r1
null
who waits, and a reserved one
destroy r4
closed
Async\PoolException: Pool is closed
Async\PoolException: Pool is closed
0
exceptions of destructors
LogicException: destroying r3
  previous LogicException: destroying r2
  previous LogicException: destroying r1
[true,0]
one of three
destroy r1
destroy r3
LogicException: destroying r2
destroying the object
destroy r1
destroy r2
while an exception is in flight
destroy r3
DomainException: in flight
LogicException: destroying
  previous DomainException: in flight
