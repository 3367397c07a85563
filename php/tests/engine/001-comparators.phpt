--TEST--
usort() and its like with comparators that suspend
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

$sorts = [
    'usort' => function (array $a, Closure $cmp) { usort($a, $cmp); return $a; },
    'uasort' => function (array $a, Closure $cmp) { uasort($a, $cmp); return array_values($a); },
    'uksort' => function (array $a, Closure $cmp) { $a = array_flip($a); uksort($a, $cmp); return array_keys($a); },
    'udiff' => function (array $a, Closure $cmp) { return array_values(array_udiff($a, [3, 4], $cmp)); },
    'uintersect' => function (array $a, Closure $cmp) { return array_values(array_uintersect($a, [3, 4], $cmp)); },
    'nested' => function (array $a, Closure $cmp) {
        usort($a, function ($x, $y) use ($cmp) {
            $inner = [$x, $y];
            usort($inner, $cmp);
            return $cmp($x, $y);
        });
        return $a;
    },
];
$tasks = [];
foreach ($sorts as $name => $sort) {
    foreach ([1, -1] as $direction) {
        $tasks["$name $direction"] = spawn($sort, [3, 1, 5, 2, 4], function ($x, $y) use ($direction) {
            suspend();
            return $direction * ($x <=> $y);
        });
    }
}
foreach (await_all($tasks)[0] as $name => $result) {
    if (str_starts_with($name, 'ud') || str_starts_with($name, 'ui')) sort($result);
    echo $name, ': ', implode(',', $result), "\n";
}
?>
--EXPECT--
usort 1: 1,2,3,4,5
usort -1: 5,4,3,2,1
uasort 1: 1,2,3,4,5
uasort -1: 5,4,3,2,1
uksort 1: 1,2,3,4,5
uksort -1: 5,4,3,2,1
udiff 1: 1,2,5
udiff -1: 1,2,5
uintersect 1: 3,4
uintersect -1: 3,4
nested 1: 1,2,3,4,5
nested -1: 5,4,3,2,1
