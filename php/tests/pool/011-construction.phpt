--TEST--
Pool: min resources are made in the constructor; a throwing factory leaves it
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
$n = 0;
$p = new Pool(function () use (&$n) { return 'r' . ++$n; }, min: 3, max: 3);
tell(fn() => [$n, count($p), $p->idleCount(), $p->activeCount()]);
$n = 0;
$factory = function () use (&$n) { if (++$n === 2) { throw new LogicException('second'); } return "r$n"; };
tell(fn() => new Pool($factory, fn($r) => print("destroyed $r\n"), min: 3, max: 3));
tell(fn() => $n);
echo "nothing is made for min 0\n";
$n = 0;
$p = new Pool(function () use (&$n) { return ++$n; });
tell(fn() => [$n, count($p)]);
echo "resources of any type\n";
foreach ([1, 'text', [1], new stdClass(), 1.5, false, fopen('php://memory', 'r'), fn() => 1] as $resource) {
    $p = new Pool(fn() => $resource, min: 1, max: 1);
    $r = $p->tryAcquire();
    echo get_debug_type($r), $r === $resource ? " same\n" : " DIFFERENT\n";
    $p->release($r);
}
--EXPECT--
[3,3,3,0]
destroyed r1
LogicException: second
2
nothing is made for min 0
[0,0]
resources of any type
int same
string same
array same
stdClass same
float same
bool same
resource (stream) same
Closure same
