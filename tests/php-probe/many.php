<?php
// 10,000 suspended coroutines at once, then 10,000 that come one after the other.
use function probe\{spawn, suspend, await};

$sum = 0;
$all = [];
for ($i = 1; $i <= 10000; $i++) {
    $all[] = spawn(function () use ($i, &$sum) { suspend(); $sum += $i; suspend(); return $i; });
}
$returned = 0;
foreach ($all as $coroutine) {
    $returned += await($coroutine);
}
echo $sum, ' ', $returned, "\n";

for ($i = 0; $i < 10000; $i++) {
    await(spawn(fn() => null));
}
$before = memory_get_usage();
for ($i = 0; $i < 10000; $i++) {
    await(spawn(fn() => null));
}
echo memory_get_usage() - $before, "\n";
