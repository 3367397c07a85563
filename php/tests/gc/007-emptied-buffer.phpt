--TEST--
A collection that finds an emptied buffer does not move the threshold
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\suspend;

suspend();
$all = [];
for ($i = 0; $i < 12000; $i++) { $all[] = new stdClass(); }
foreach ($all as $o) { $copy = $o; $copy = null; }
unset($o);
$all = null;  // freed by their counts: nothing is left to look at
suspend();
var_dump(gc_status()['threshold'], gc_status()['roots']);
?>
--EXPECT--
int(10001)
int(0)
