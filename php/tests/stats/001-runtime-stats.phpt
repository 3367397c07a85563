--TEST--
runtime_stats(): ints under their keys, live counters are 0 before the scheduler starts
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{runtime_stats, spawn, suspend, delay, get_coroutines};

$before = runtime_stats();
var_dump(array_map(is_int(...), $before));
foreach (['coroutines_total', 'coroutines_active', 'microtasks_queue', 'coroutine_queue', 'resumed_queue', 'fiber_pool_count', 'fiber_pool_virtual_bytes'] as $name) {
    echo "$name $before[$name]\n";
}
var_dump($before['fiber_stack_size'] > 0, $before['fiber_pool_min'] <= $before['fiber_pool_capacity']);
var_dump(get_coroutines());  // it did not start

spawn(function () { suspend(); });
spawn(function () { delay(1); });
$s = runtime_stats();
echo "$s[coroutines_total] $s[coroutines_active] $s[coroutine_queue] $s[resumed_queue]\n";
suspend();
$s = runtime_stats();
echo "$s[coroutines_total] $s[coroutines_active] $s[coroutine_queue] $s[resumed_queue]\n";
delay(3);
$s = runtime_stats();
echo "$s[coroutines_total] $s[coroutines_active] $s[coroutine_queue] $s[resumed_queue]\n";
var_dump($s['fiber_pool_count'] > 0);
var_dump($s['fiber_pool_virtual_bytes'] === $s['fiber_pool_count'] * $s['fiber_stack_size']);
try {
    runtime_stats(1);
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
array(10) {
  ["coroutines_total"]=>
  bool(true)
  ["coroutines_active"]=>
  bool(true)
  ["microtasks_queue"]=>
  bool(true)
  ["coroutine_queue"]=>
  bool(true)
  ["resumed_queue"]=>
  bool(true)
  ["fiber_pool_count"]=>
  bool(true)
  ["fiber_pool_capacity"]=>
  bool(true)
  ["fiber_pool_min"]=>
  bool(true)
  ["fiber_stack_size"]=>
  bool(true)
  ["fiber_pool_virtual_bytes"]=>
  bool(true)
}
coroutines_total 0
coroutines_active 0
microtasks_queue 0
coroutine_queue 0
resumed_queue 0
fiber_pool_count 0
fiber_pool_virtual_bytes 0
bool(true)
bool(true)
array(0) {
}
3 3 2 0
3 3 1 1
1 1 0 0
bool(true)
bool(true)
Async\runtime_stats() expects exactly 0 arguments, 1 given
