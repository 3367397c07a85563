--TEST--
Settings of the stack pool given before the script
--EXTENSIONS--
true_async
--INI--
async.stack_pool_min=3
async.stack_pool_max=7
--FILE--
<?php
Async\spawn(fn() => 1);
$s = Async\runtime_stats();
echo "$s[fiber_pool_min] $s[fiber_pool_capacity]\n";
--EXPECT--
3 7
