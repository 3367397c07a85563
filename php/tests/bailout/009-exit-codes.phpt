--TEST--
The exit code of a run that ended badly is 255
--EXTENSIONS--
true_async
--FILE--
<?php
function run(string $code): void {
    $file = __DIR__ . '/009-exit-codes.inc.php';
    file_put_contents($file, '<?php use function Async\{spawn, suspend, await, delay, iterate, await_all, graceful_shutdown}; ' . $code);
    exec(getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d async.debug_deadlock=0 -d display_errors=0 ' . escapeshellarg($file) . ' 2>/dev/null', $output, $status);
    echo $status, $output ? ' ' . implode(',', $output) : '', "\n";
}
run('spawn(function() { throw new Exception("e"); });');
run('spawn(fn() => 1); throw new Exception("e");');
run('$b = null; $a = spawn(function() use (&$b) { await($b); }); $b = spawn(fn() => await($a));');
run('spawn(function() { eval("class Broken { function __clone(int \$x) {} }"); }); delay(1000);');
run('spawn(fn() => 1); eval("class Broken { function __clone(int \$x) {} }");');
run('register_shutdown_function(function() { spawn(function() { throw new Exception("e"); }); });');
echo "well\n";
run('spawn(fn() => 1);');
run('spawn(function() { delay(1000); }); suspend(); graceful_shutdown();');
run('$c = spawn(fn() => suspend()); $c->cancel(); await($c); echo "never";');
?>
--CLEAN--
<?php @unlink(__DIR__ . '/009-exit-codes.inc.php'); ?>
--EXPECT--
255
255
255
255
255
255
well
0
0
0
