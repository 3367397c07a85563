--TEST--
CpuSnapshot: counters that never go back, read only, strict, not serializable, not to be constructed
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\CpuSnapshot;

$first = CpuSnapshot::now();
for ($i = 0; $i < 100000; $i++);
$second = CpuSnapshot::now();
foreach (['wallNs', 'processUserNs', 'processSystemNs', 'systemIdleNs', 'systemBusyNs'] as $name) {
    var_dump(is_int($first->$name) && $first->$name >= 0 && $second->$name >= $first->$name);
}
var_dump($second->wallNs > $first->wallNs);
var_dump(is_int($first->cpuCount) && $first->cpuCount >= 1);
var_dump(array_keys(get_object_vars($first)));
var_dump((new ReflectionClass($first))->isFinal());

foreach ([
    fn() => $first->wallNs = 1,
    fn() => $first->other = 1,
    fn() => new CpuSnapshot(),
    fn() => serialize($first),
    fn() => CpuSnapshot::now(1),
] as $wrong) {
    try {
        $wrong();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
array(6) {
  [0]=>
  string(6) "wallNs"
  [1]=>
  string(13) "processUserNs"
  [2]=>
  string(15) "processSystemNs"
  [3]=>
  string(12) "systemIdleNs"
  [4]=>
  string(12) "systemBusyNs"
  [5]=>
  string(8) "cpuCount"
}
bool(true)
Error: Cannot modify readonly property Async\CpuSnapshot::$wallNs
Error: Cannot create dynamic property Async\CpuSnapshot::$other
Error: Call to private Async\CpuSnapshot::__construct() from %s
Exception: Serialization of 'Async\CpuSnapshot' is not allowed
ArgumentCountError: Async\CpuSnapshot::now() expects exactly 0 arguments, 1 given
