<?php
// How much memory one coroutine takes that waits; and how many there were. Usage: parked.php COUNT

require __DIR__ . '/support.php';

use Async\Future;
use Async\FutureState;
use function Async\await;
use function Async\spawn;
use function Async\suspend;

$wanted = (int) $argv[1];
$arrived = 0;
$opener = new FutureState();
$gate = new Future($opener);
$park = function () use ($gate, &$arrived): void {
    ++$arrived;
    await($gate);
};
spawn($park);
suspend();
[$resident, $tables] = memory_kib();
try {
    for ($i = 0; $i < $wanted; ++$i) {
        spawn($park);
        if ($i % 1000 === 0) {
            suspend();
        }
    }
    suspend();
} catch (Error $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
}
$count = $arrived - 1;
[$resident_after, $tables_after] = memory_kib();
print_figure('parked_kib', 'KiB', ($resident_after - $resident) / $count, ['page_tables' => ($tables_after - $tables) / $count, 'count' => $count]);
print_figure('parked_max', 'coroutines', $count);
$opener->complete(null);
