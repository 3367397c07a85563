--TEST--
The threshold: raised by a run that frees nothing, lowered by a productive one, untouched by explicit requests
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{suspend, delay};

function garbage(int $count): void { for ($i = 0; $i < $count; $i++) { $a = new stdClass(); $a->self = $a; } }
/** Fills the buffer with roots that are no garbage. */
function living(int $count): array {
    $all = [];
    for ($i = 0; $i < $count; $i++) { $o = new stdClass(); $all[] = $o; }
    foreach ($all as $o) { $copy = $o; $copy = null; }
    return $all;
}
function threshold(): string { return gc_status()['threshold'] . ' runs ' . gc_status()['runs']; }
suspend();
echo 'start: ', threshold(), "\n";
garbage(12000);
echo 'full, not collected yet: ', threshold(), "\n";
suspend();
echo 'productive: ', threshold(), ' collected ', gc_status()['collected'], "\n";
$keep = living(12000);
suspend();
echo 'nothing freed: ', threshold(), "\n";
garbage(12000);
suspend();
echo 'below the threshold: ', threshold(), "\n";
garbage(12000);
suspend();
echo 'productive again: ', threshold(), "\n";
gc_collect_cycles();
suspend();
$more = living(5);
gc_collect_cycles();
suspend();
echo 'explicit, nothing freed: ', threshold(), "\n";
gc_collect_cycles();
$full = living(12000);
suspend();
echo 'full behind an explicit request: ', threshold(), "\n";
var_dump(gc_enabled());
?>
--EXPECT--
start: 10001 runs 0
full, not collected yet: 10001 runs 0
productive: 10001 runs 1 collected 12000
nothing freed: 20001 runs 2
below the threshold: 20001 runs 2
productive again: 10001 runs 3
explicit, nothing freed: 10001 runs 4
full behind an explicit request: 20001 runs 5
bool(true)
