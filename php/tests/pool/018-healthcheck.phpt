--TEST--
Pool: health checks destroy what is ill and refill to min; they keep nothing alive
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
use function Async\{spawn, suspend, await, delay};
$n = 0;
$ill = [];
$p = new Pool(
    function () use (&$n) { return 'r' . ++$n; },
    fn($r) => print("destroy $r\n"),
    function ($r) use (&$ill) { if (($ill[$r] ?? 0) === 2) { throw new LogicException('check'); } return !isset($ill[$r]); },
    min: 2, max: 4, healthcheckInterval: 5
);
function until(Closure $condition): void { for ($i = 0; $i < 400 && !$condition(); $i++) { delay(2); } }
delay(12);
tell(fn() => [count($p), $n]);
echo "false\n";
$ill = ['r1' => 1];
until(fn() => count($p) === 2 && $n === 3);
tell(fn() => [count($p), $n]);
echo "throws\n";
$ill = ['r2' => 2];
until(fn() => count($p) === 2 && $n === 4);
tell(fn() => [count($p), $n]);
echo "those in use are left alone\n";
$r = $p->acquire();
$ill = [$r => 1];
delay(15);
tell(fn() => [$r, $n]);
$p->release($r);
until(fn() => $n === 5);
tell(fn() => [count($p), $n]);
echo "end\n";
--EXPECT--
[2,2]
false
destroy r1
[2,3]
throws
destroy r2
[2,4]
those in use are left alone
["r3",4]
destroy r3
[2,5]
end
destroy r4
destroy r5
