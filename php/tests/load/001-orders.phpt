--TEST--
Loaded before or after opcache with JIT, Xdebug, FFI and APCu, in every order: the same results
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

file_put_contents(__DIR__ . '/001-orders-run.php', '<?php
use function Async\{await, delay, spawn, suspend};
function twice(int $n): int { suspend(); return $n * 2; }
$sum = 0;
for ($i = 0; $i < 200; $i++) {
    $sum += await(spawn("twice", $i));
}
try { await(spawn(fn() => throw new LogicException("thrown"))); } catch (LogicException $e) { echo $e->getMessage(), " "; }
$c = spawn(fn() => delay(10000));
suspend();
$c->cancel();
try { await($c); } catch (Cancellation $e) { echo "cancelled "; }
if (function_exists("apcu_store")) { await(spawn(fn() => apcu_store("k", 1))); if (apcu_fetch("k") !== 1) echo "APCu? "; }
if (class_exists("FFI")) { if (await(spawn(fn() => FFI::cdef("int abs(int);")->abs(-3))) !== 3) echo "FFI? "; }
if (function_exists("pcntl_fork")) { $pid = pcntl_fork(); if ($pid === 0) exit(0); pcntl_waitpid($pid, $status); }
echo $sum, "\n";
');

function loading(string $name): array {
    return match ($name) {
        'true_async' => ['-d', 'extension=' . true_async_so()],
        'opcache' => ['-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1', '-d', 'opcache.jit_buffer_size=16M', '-d', 'opcache.jit=tracing',
            '-d', 'opcache.file_update_protection=0'],
        'xdebug' => ['-d', 'zend_extension=' . beside('xdebug'), '-d', 'xdebug.mode=develop,coverage', '-d', 'xdebug.log_level=0', '-d', 'html_errors=0'],
        'apcu' => ['-d', 'extension=' . beside('apcu'), '-d', 'apc.enable_cli=1'],
        default => ['-d', "extension=$name"],
    };
}

function orders(array $names): Generator {
    if ($names === []) {
        yield [];
    }
    foreach ($names as $i => $name) {
        $others = $names;
        unset($others[$i]);
        foreach (orders($others) as $order) {
            yield [$name, ...$order];
        }
    }
}

function works(array $order): void {
    $command = [PHP_BINARY, '-n', '-d', 'error_reporting=-1', '-d', 'display_errors=1', ...array_merge(...array_map('loading', $order))];
    $process = proc_open([...$command, __DIR__ . '/001-orders-run.php'], [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    $output = stream_get_contents($pipes[1]);
    $status = proc_close($process);
    // With Xdebug there, opcache says that its JIT is off.
    $output = preg_replace('~^\s*(?:PHP )?Warning:\s+JIT is incompatible with third party extensions.*\n~m', '', $output);
    if ($status !== 0 || ltrim($output) !== "thrown cancelled 39800\n") {
        echo implode(', ', $order), ": status $status, $output\n";
    }
}

$there = fn(string $name) => $name === 'true_async' || beside($name) !== null;
foreach (orders(array_filter(['true_async', 'opcache', 'xdebug'], $there)) as $order) {
    works($order);
}
foreach (orders(array_filter(['true_async', 'opcache', 'apcu', 'ffi'], $there)) as $order) {
    works($order);
}
works(array_filter(['ffi', 'apcu', 'xdebug', 'opcache', 'true_async'], $there));
works(array_filter(['true_async', 'opcache', 'xdebug', 'apcu', 'ffi'], $there));
echo "done\n";
?>
--CLEAN--
<?php @unlink(__DIR__ . '/001-orders-run.php'); ?>
--EXPECT--
done
