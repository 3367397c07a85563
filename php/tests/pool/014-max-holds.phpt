--TEST--
Pool: a factory or hook that suspends never lets it exceed max
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await, await_all, delay};
$made = $live = $most = 0;
$p = new Pool(
    function () use (&$made, &$live, &$most) { $most = max($most, ++$live); suspend(); return ++$made; },
    function () use (&$live) { suspend(); $live--; },
    beforeAcquire: function ($r) use (&$p, &$asked) { suspend(); if (count($p) > 2) { echo "TOO MANY\n"; } return ++$asked % 3 !== 0; },
    beforeRelease: function ($r) use (&$given) { suspend(); return ++$given % 4 !== 0; },
    max: 2
);
$workers = [];
for ($w = 0; $w < 6; $w++) {
    $workers[] = spawn(function () use ($p) {
        for ($i = 0; $i < 5; $i++) {
            $r = $p->acquire();
            if (count($p) > 2 || $p->activeCount() < 1) { echo 'WRONG ', count($p), ' ', $p->activeCount(), "\n"; }
            suspend();
            $p->release($r);
        }
    });
}
await_all($workers);
tell(fn() => [$most, count($p) <= 2, $p->activeCount(), $made > 2, $live === count($p)]);
--EXPECT--
[2,true,0,true,true]
