--TEST--
In a program that does not use the API streams and fibers leave the collector and fibers as they are
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip valgrind loses its way on the stacks of PHP\'s own fibers'); ?>
--FILE--
<?php
function cycle(): void { $one = new stdClass; $one->self = $one; }

file_get_contents(__FILE__, length: 10);
$fiber = new Fiber(function () { cycle(); Fiber::suspend(gc_collect_cycles()); });
var_dump($fiber->start());
cycle();
var_dump(gc_collect_cycles());
?>
--EXPECT--
int(1)
int(1)
