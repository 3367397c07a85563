--TEST--
A coroutine that runs out of stack is named, the exit code is 255
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (PHP_VERSION_ID >= 80300) die('skip the engine has a limit of its own'); ?>
--FILE--
<?php
$code = '$f = function($n) use (&$f) { return array_map($f, [$n + 1]); }; Async\spawn(fn() => Async\suspend()); Async\spawn(fn() => $f(0)); Async\delay(1);';
$file = __DIR__ . '/002-stack-overflow.inc.php';
file_put_contents($file, "<?php\n$code");
exec('ulimit -c unlimited; ' . getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . escapeshellarg($file) . ' 2>&1', $output, $status);
echo $status, "\n", implode("\n", $output), "\n";
?>
--CLEAN--
<?php @unlink(__DIR__ . '/002-stack-overflow.inc.php'); ?>
--EXPECTF--
255
PHP Fatal error:  Stack overflow in Coroutine 3 spawned at %s002-stack-overflow.inc.php:2: its 512 KiB are used up; use less recursion or a larger async.stack_size
