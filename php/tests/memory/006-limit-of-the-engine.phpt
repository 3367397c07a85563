--TEST--
A coroutine that runs out of stack gets the engine's own error, which it may catch; else the exit code is 255
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (PHP_VERSION_ID < 80300) die('skip the engine knows no limit'); ?>
--FILE--
<?php
use function Async\{await, spawn, suspend};
$f = function ($n) use (&$f) { return array_map($f, [$n + 1]); };
for ($i = 0; $i < 3; $i++) {
    try {
        await(spawn(fn() => $f(0)));
    } catch (Error $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
await(spawn(function () use ($f) { try { $f(0); } catch (Error) { suspend(); echo "caught inside\n"; } }));
$code = '$f = function($n) use (&$f) { return array_map($f, [$n + 1]); }; Async\spawn(fn() => $f(0)); Async\delay(1); echo "not reached";';
$file = __DIR__ . '/006-limit-of-the-engine.inc.php';
file_put_contents($file, "<?php\n$code");
exec('ulimit -c unlimited; ' . getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . escapeshellarg($file) . ' 2>&1', $output, $status);
echo $status, "\n", $output[1], "\n...\n", implode("\n", array_slice($output, -3)), "\n";
?>
--CLEAN--
<?php @unlink(__DIR__ . '/006-limit-of-the-engine.inc.php'); ?>
--EXPECTF--
Error: Maximum call stack size of %d bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion?
Error: Maximum call stack size of %d bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion?
Error: Maximum call stack size of %d bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion?
caught inside
255
Fatal error: Uncaught Error: Maximum call stack size of %d bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion? in %s006-limit-of-the-engine.inc.php:2
...
#%d [internal function]: {closure:%s:2}()
#%d {main}
  thrown in %s006-limit-of-the-engine.inc.php on line 2
