--TEST--
iterate(): one coroutine while callbacks do not suspend; the limit is exact, for every kind of iterable
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{iterate, suspend, current_coroutine, delay, spawn, get_coroutines};

$ids = [];
iterate([1, 2, 3], function ($v, $k) use (&$ids) { echo "$k=>$v "; $ids[] = current_coroutine()->getId(); });
echo count(array_unique($ids)), "\n";

function items(string $kind) {
    return match ($kind) {
        'array' => range(1, 9),
        'iterator' => new ArrayIterator(range(1, 9)),
        'aggregate' => new ArrayObject(range(1, 9)),
        'generator' => (function () { yield from range(1, 9); })(),
        'suspending' => (function () { foreach (range(1, 9) as $i) { suspend(); yield $i; } })(),
    };
}
foreach (['array', 'iterator', 'aggregate', 'generator', 'suspending'] as $kind) {
    foreach ([1, 2, 4, 0] as $limit) {
        $now = $most = 0;
        $seen = [];
        iterate(items($kind), function ($v) use (&$now, &$most, &$seen) {
            $most = max($most, ++$now);
            for ($i = 0; $i < 40; $i++) suspend();
            $seen[] = $v;
            $now--;
        }, $limit);
        sort($seen);
        echo "$kind $limit: at most $most", $seen === range(1, 9) ? '' : ' WRONG', "\n";
    }
}
?>
--EXPECT--
0=>1 1=>2 2=>3 1
array 1: at most 1
array 2: at most 2
array 4: at most 4
array 0: at most 9
iterator 1: at most 1
iterator 2: at most 2
iterator 4: at most 4
iterator 0: at most 9
aggregate 1: at most 1
aggregate 2: at most 2
aggregate 4: at most 4
aggregate 0: at most 9
generator 1: at most 1
generator 2: at most 2
generator 4: at most 4
generator 0: at most 9
suspending 1: at most 1
suspending 2: at most 2
suspending 4: at most 4
suspending 0: at most 9
