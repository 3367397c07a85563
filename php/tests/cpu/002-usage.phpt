--TEST--
cpu_usage(): the first call is the baseline, later ones give the delta
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('SKIP_REPEAT')) die("skip the baseline is that of the process"); ?>
--FILE--
<?php
use function Async\cpu_usage;

$first = cpu_usage();
var_dump(array_keys($first));
foreach (['process_cores', 'process_percent', 'system_percent', 'interval_sec'] as $name) {
    var_dump($first[$name]);
}
var_dump(is_int($first['cpu_count']) && $first['cpu_count'] >= 1);
var_dump($first['loadavg'] === null || count($first['loadavg']) === 3);

$until = hrtime(true) + 50_000_000;
while (hrtime(true) < $until);
$second = cpu_usage();
var_dump($second['interval_sec'] >= 0.05 && $second['interval_sec'] < 10);
var_dump($second['process_cores'] > 0 && $second['process_cores'] <= $second['cpu_count']);
var_dump($second['process_percent'] > 0 && $second['process_percent'] <= 100);
var_dump(is_float($second['system_percent']) && $second['system_percent'] >= 0 && $second['system_percent'] <= 100);
var_dump(cpu_usage()['interval_sec'] < $second['interval_sec']);
try {
    cpu_usage(1);
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}
var_dump(Async\get_coroutines());
?>
--EXPECT--
array(6) {
  [0]=>
  string(13) "process_cores"
  [1]=>
  string(15) "process_percent"
  [2]=>
  string(14) "system_percent"
  [3]=>
  string(9) "cpu_count"
  [4]=>
  string(12) "interval_sec"
  [5]=>
  string(7) "loadavg"
}
float(0)
float(0)
float(0)
float(0)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
Async\cpu_usage() expects exactly 0 arguments, 1 given
array(0) {
}
