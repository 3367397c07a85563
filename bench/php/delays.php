<?php
// 100,000 delays of 10 ms at once, twice: the second round finds everything warm.

require __DIR__ . '/support.php';

use function Async\await;
use function Async\delay;
use function Async\spawn;

foreach (['delay_100k_cold', 'delay_100k'] as $name) {
    $before = cpu_ms();
    $all = [];
    for ($i = 0; $i < 100_000; ++$i) {
        $all[] = spawn(function (): void { delay(10); });
    }
    foreach ($all as $one) {
        await($one);
    }
    $all = [];
    print_figure($name, 'ms', cpu_ms() - $before);
}
