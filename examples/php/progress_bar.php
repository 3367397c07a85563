<?php
// Twenty tasks, four at a time, and a bar that moves with each that ends. Failures are counted, not fatal.
// Run it: ./dev php examples/php/progress_bar.php

use Async\TaskGroup;
use function Async\{delay, spawn};

const TASKS = 20;

$group = new TaskGroup(concurrency: 4, queueLimit: 0);
for ($i = 1; $i <= TASKS; $i++) {
    $group->spawnWithKey("file $i", function () use ($i): int {
        delay($i % 4 + 1);
        if ($i % 9 === 0) {
            throw new RuntimeException("file $i is damaged");
        }
        return $i * 100;
    });
}
$group->close();

$isTerminal = stream_isatty(STDOUT);
$done = $bytes = 0;
$failures = [];
foreach ($group as $name => [$size, $error]) {  // in the order in which they end
    $done++;
    if ($error !== null) {
        $failures[$name] = $error->getMessage();
    } else {
        $bytes += $size;
    }
    $bar = str_pad(str_repeat('#', $done), TASKS, '.');
    if ($isTerminal) {
        echo "\r[$bar] $done/", TASKS;
    } elseif ($done % 5 === 0) {
        echo "[$bar] $done/", TASKS, "\n";
    }
}
echo $isTerminal ? "\n" : '', "$bytes bytes, ", count($failures), " failures\n";
ksort($failures, SORT_NATURAL);
echo implode("\n", $failures), "\n";
