--TEST--
What does not start the scheduler, and what does
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{get_coroutines, current_coroutine, runtime_stats, cpu_usage, loadavg, available_parallelism, timeout, protect, suspend};

function is_running(): bool {
    try {
        current_coroutine();
        return true;
    } catch (Async\AsyncException $e) {
        return false;
    }
}
get_coroutines();
runtime_stats();
cpu_usage();
loadavg();
available_parallelism();
timeout(10);
protect(fn() => 1);
$state = new Async\FutureState();
$state->ignore();
var_dump(is_running());
suspend();
var_dump(is_running());
?>
--EXPECT--
bool(false)
bool(true)
