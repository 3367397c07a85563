<?php
// Many slow things at once: the whole takes as long as the slowest.
// Run it: ./dev php examples/php/parallel_work.php

use function Async\{await_all, await_all_or_fail, await_any_or_fail, delay, spawn};

/** Stands for a request that takes a while. */
function fetch(string $page, int $ms): string {
    delay($ms);
    if ($page === 'broken') {
        throw new RuntimeException("$page cannot be fetched");
    }
    return strtoupper($page);
}

$start = hrtime(true);
$pages = ['home' => 60, 'news' => 40, 'about' => 20];
$running = [];
foreach ($pages as $page => $ms) {
    $running[$page] = spawn(fetch(...), $page, $ms);
}
print_r(await_all_or_fail($running));
$ms = (hrtime(true) - $start) / 1e6;
echo $ms < array_sum($pages) ? "faster than one after another\n" : "it took $ms ms\n";

// The first that is ready.
echo 'first: ', await_any_or_fail([spawn(fetch(...), 'slow', 50), spawn(fetch(...), 'quick', 5)]), "\n";

// Some may fail: results and errors, each under its key.
[$results, $errors] = await_all(['good' => spawn(fetch(...), 'good', 1), 'broken' => spawn(fetch(...), 'broken', 1)]);
echo implode(', ', $results), ' - ', $errors['broken']->getMessage(), "\n";
