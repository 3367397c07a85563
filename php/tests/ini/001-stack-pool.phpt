--TEST--
Settings of the stack pool: defaults, changes, wrong values, what runtime_stats() shows
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{runtime_stats, spawn, suspend};
function bounds(): string { $s = runtime_stats(); return "$s[fiber_pool_min] $s[fiber_pool_capacity]"; }
echo ini_get('async.stack_size'), ' ', ini_get('async.stack_pool_min'), ' ', ini_get('async.stack_pool_max'), ' ', ini_get('async.debug_deadlock'), "\n";
echo "before the start: ", bounds(), ' ', runtime_stats()['fiber_stack_size'], "\n";
ini_set('async.stack_pool_min', '2');
ini_set('async.stack_pool_max', '8');
spawn(fn() => 1);
echo "started: ", bounds(), "\n";
for ($i = 0; $i < 100; $i++) { spawn(fn() => suspend()); }
suspend(); suspend();
echo "idle ones are at most the bound: ", var_export(runtime_stats()['fiber_pool_count'] <= 8 + 1, true), "\n";
ini_set('async.stack_pool_max', '4');
echo "while it runs: ", bounds(), ' ', var_export(runtime_stats()['fiber_pool_count'] <= 4 + 1, true), "\n";
ini_set('async.stack_pool_min', '100');
echo "the lower one is cut to the upper: ", bounds(), "\n";
foreach (['-1', 'x', '', '1K', '99999999999'] as $wrong) {
    var_dump(ini_set('async.stack_pool_max', $wrong));
}
echo bounds(), "\n";
ini_restore('async.stack_pool_min');
ini_restore('async.stack_pool_max');
echo "restored: ", bounds(), "\n";
--EXPECT--
512K 64 131072 1
before the start: 64 131072 524288
started: 2 8
idle ones are at most the bound: true
while it runs: 2 4 true
the lower one is cut to the upper: 4 4
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
4 4
restored: 64 131072
