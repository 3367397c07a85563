<?php
// Sleeping coroutines sleep at the same time: they wake in the order of their delays, not of their spawns.
use function probe\{spawn, delay, await};

$all = [];
foreach ([30, 10, 20] as $ms) {
    $all[] = spawn(function () use ($ms) { delay($ms); echo "$ms ms\n"; return $ms; });
}
echo array_sum(array_map('probe\await', $all)), "\n";
spawn(function () { delay(5); echo "after the script\n"; });
delay(0);
echo "end of the script\n";
