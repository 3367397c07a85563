--TEST--
Argument-free functions reject arguments
--EXTENSIONS--
true_async
--FILE--
<?php
foreach (['current_coroutine', 'get_coroutines', 'runtime_stats', 'available_parallelism', 'loadavg', 'cpu_usage', 'suspend'] as $name) {
    try {
        ("Async\\$name")(1);
        echo "$name: nothing thrown\n";
    } catch (ArgumentCountError $e) {
        echo $e->getMessage(), "\n";
    } catch (Throwable $e) {
        echo "$name: ", $e::class, "\n";
    }
}
?>
--EXPECT--
Async\current_coroutine() expects exactly 0 arguments, 1 given
Async\get_coroutines() expects exactly 0 arguments, 1 given
Async\runtime_stats() expects exactly 0 arguments, 1 given
Async\available_parallelism() expects exactly 0 arguments, 1 given
Async\loadavg() expects exactly 0 arguments, 1 given
Async\cpu_usage() expects exactly 0 arguments, 1 given
Async\suspend() expects exactly 0 arguments, 1 given
