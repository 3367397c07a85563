--TEST--
Xdebug counts the lines that coroutines have run
--SKIPIF--
<?php
require __DIR__ . "/with_xdebug.inc";
if (!has_xdebug()) die("skip there is no Xdebug");
?>
--FILE--
<?php
require __DIR__ . '/with_xdebug.inc';
$script = __DIR__ . '/003-coverage-run.php';
file_put_contents($script, '<?php
xdebug_start_code_coverage(XDEBUG_CC_UNUSED | XDEBUG_CC_DEAD_CODE);
require "' . __DIR__ . '/jobs.inc";
foreach (xdebug_get_code_coverage()["' . __DIR__ . '/jobs.inc"] as $line => $count) {
    echo "$line: $count\n";
}
');
echo run_with_xdebug('coverage', $script);
?>
--CLEAN--
<?php unlink(__DIR__ . '/003-coverage-run.php'); ?>
--EXPECT--
24
5: 1
6: 1
7: 1
8: -2
11: 1
12: 1
13: 1
14: -1
16: 1
17: -2
19: 1
20: 1
21: 1
22: 1
24: 1
25: 1
status 0
