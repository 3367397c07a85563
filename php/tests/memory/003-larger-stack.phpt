--TEST--
3,000 levels of array_map fit into 2 MiB
--EXTENSIONS--
true_async
--INI--
async.stack_size=2M
--SKIPIF--
<?php if (PHP_DEBUG) die('skip calls of a debug build need more'); ?>
--FILE--
<?php
$f = function($n) use (&$f) { return $n == 0 ? 0 : array_map($f, [$n - 1])[0]; };
var_dump(Async\await(Async\spawn(fn() => $f(3000))));
var_dump(Async\runtime_stats()['fiber_stack_size']);
?>
--EXPECT--
int(0)
int(2097152)
