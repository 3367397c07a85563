--TEST--
available_parallelism() is stable and at least 1; loadavg() gives three floats
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\available_parallelism;
use function Async\loadavg;

$count = available_parallelism();
var_dump(is_int($count) && $count >= 1, available_parallelism() === $count);
$load = loadavg();
var_dump(array_is_list($load), count($load), array_map(is_float(...), $load));
foreach (['available_parallelism', 'loadavg'] as $name) {
    try {
        ("Async\\$name")(1);
    } catch (ArgumentCountError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
int(3)
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
}
Async\available_parallelism() expects exactly 0 arguments, 1 given
Async\loadavg() expects exactly 0 arguments, 1 given
