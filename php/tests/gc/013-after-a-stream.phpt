--TEST--
The first stream starts the scheduler, as the API and the collector tell it
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\get_coroutines;

function cycle(): void { $one = new stdClass; $one->self = $one; }

cycle();
var_dump(gc_collect_cycles(), get_coroutines());
require __DIR__ . '/013-after-a-stream.inc';
cycle();
var_dump(gc_collect_cycles(), get_coroutines());
file_get_contents(__FILE__, length: 10);
cycle();
var_dump(gc_collect_cycles());
var_dump(count(get_coroutines()));  // main and the collector
?>
--EXPECT--
int(1)
array(0) {
}
included
int(1)
array(0) {
}
int(0)
int(2)
