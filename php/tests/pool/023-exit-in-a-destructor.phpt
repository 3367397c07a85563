--TEST--
Pool: a pool is left when exit() or a fatal error in a destructor ends everything: no callback can run any more
--EXTENSIONS--
true_async
--FILE--
<?php
function run(string $last): void {
    $file = __DIR__ . '/023-exit-in-a-destructor.inc.php';
    file_put_contents($file, '<?php
        class D { function __destruct() { echo "destructor\n"; ' . $last . ' } }
        class H { static $all; }
        H::$all = [new D, new Async\Pool(fn() => new stdClass, function ($x) { echo "never\n"; }, min: 1)];
        Async\suspend();');
    exec(getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . escapeshellarg($file) . ' 2>&1', $output, $status);
    echo implode(' ', $output), ' ', $status, "\n";
}
run('exit(3);');
run('eval("function strlen() {}");');
?>
--CLEAN--
<?php @unlink(__DIR__ . '/023-exit-in-a-destructor.inc.php'); ?>
--EXPECTF--
destructor %d
destructor  Fatal error: Cannot redeclare %s 255
