--TEST--
Pool: release, beforeRelease, the closed pool, the caller's own variable
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await};
class Resource_ { static int $n = 0; public int $id; function __construct() { $this->id = ++self::$n; } }
$good = true;
$p = new Pool(fn() => new Resource_(), fn($r) => print("destroy $r->id\n"), beforeRelease: function ($r) use (&$good) { return $good instanceof Throwable ? throw $good : $good; }, max: 1);
$r = $p->acquire();
tell(fn() => $p->release($r));
tell(fn() => [$p->idleCount(), $p->activeCount()]);
echo "refused\n";
$r = $p->acquire();
$good = false;
tell(fn() => $p->release($r));
tell(fn() => [$r->id, count($p)]);
$r = $p->acquire();
$good = new LogicException('in the hook');
tell(fn() => $p->release($r));
tell(fn() => [$r->id, count($p)]);
echo "the freed capacity wakes who waits\n";
$r = $p->acquire();
$w = spawn(function () use ($p) { $r = $p->acquire(); echo "waiter got $r->id\n"; return $r; });
suspend();
$good = false;
$p->release($r);
$r = await($w);
echo "closed\n";
$p->close();
tell(fn() => [count($p), $p->activeCount(), $p->isClosed()]);
$p->release($r);
tell(fn() => [count($p), $r->id]);
echo "what was never taken\n";
$p = new Pool(fn() => 1);
tell(fn() => $p->release('strange'));
tell(fn() => count($p));
--EXPECT--
null
[1,0]
refused
destroy 1
null
[1,0]
destroy 2
null
[2,0]
the freed capacity wakes who waits
destroy 3
waiter got 4
closed
[1,1,true]
destroy 4
[0,4]
what was never taken
Async\AsyncException: nothing was taken from the pool that could be given back
0
