--TEST--
700 levels of array_map fit into the default stack
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (PHP_DEBUG) die('skip calls of a debug build need more'); ?>
--FILE--
<?php
$f = function($n) use (&$f) { return $n == 0 ? 0 : array_map($f, [$n-1])[0]; };
var_dump(Async\await(Async\spawn(fn() => $f(700))));
--EXPECT--
int(0)
