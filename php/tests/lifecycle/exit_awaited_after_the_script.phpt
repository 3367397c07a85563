--TEST--
What ends a shutdown function or a destructor like the script: exit() in a coroutine that it awaits, a graceful shutdown
--EXTENSIONS--
true_async
--FILE--
<?php
function run(string $code): void {
    $file = __DIR__ . '/exit_awaited.inc.php';
    file_put_contents($file, '<?php use function Async\{spawn, suspend, await, delay, graceful_shutdown};
        final class Last { function __construct(public $do) {} function __destruct() { echo "destructor "; ($this->do)(); echo "not "; } } ' . $code);
    exec(getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d display_errors=1 -d log_errors=0 ' . escapeshellarg($file), $output, $status);
    echo trim(implode('|', $output)), ": $status\n";
}
$exit = 'function() { await(spawn(function() { suspend(); echo "exits "; exit(8); })); echo "not "; }';
run("register_shutdown_function($exit); register_shutdown_function(function() { echo 'next '; });");
run("register_shutdown_function(function() { try { ($exit)(); } finally { echo 'finally '; } });");
run("register_shutdown_function(function() { spawn(fn() => delay(5)); graceful_shutdown(); suspend(); echo 'not '; });");
run("\$last = new Last($exit); \$other = new Last(fn() => throw new Async\AsyncCancellation); spawn(fn() => 1);");
run("\$last = new Last(fn() => exit(3)); spawn(fn() => 1);");
run("register_shutdown_function(function() { await(spawn(fn() => throw new Exception('told'))); });");
run("register_shutdown_function(function() { exit(4); }); register_shutdown_function(function() { echo 'not '; });");
?>
--CLEAN--
<?php @unlink(__DIR__ . '/exit_awaited.inc.php'); ?>
--EXPECTF--
exits next: 8
exits finally: 8
: 0
destructor destructor exits: 8
destructor: 3
|Fatal error: Uncaught Exception: told in %s: 255
: 4
