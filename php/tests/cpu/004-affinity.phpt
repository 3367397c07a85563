--TEST--
available_parallelism() honours the affinity
--EXTENSIONS--
true_async
--SKIPIF--
<?php
exec('taskset --version 2>/dev/null', $lines, $status);
if ($status !== 0) die('skip there is no taskset');
?>
--FILE--
<?php
$pid = getmypid();
preg_match('/\d+/', shell_exec("taskset -cp $pid | sed 's/.*: //'"), $first);
exec("taskset -cp $first[0] $pid");
var_dump(Async\available_parallelism());
?>
--EXPECT--
int(1)
