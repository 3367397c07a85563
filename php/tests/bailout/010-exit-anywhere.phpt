--TEST--
exit() anywhere ends the script with its code
--EXTENSIONS--
true_async
--FILE--
<?php
function run(string $code): void {
    $file = __DIR__ . '/010-exit-anywhere.inc.php';
    file_put_contents($file, '<?php use function Async\{spawn, suspend, await, delay, iterate, await_all, protect, graceful_shutdown}; register_shutdown_function(function() { echo "S"; });
        class D { public $o; function __destruct() { echo "D"; exit(7); } } ' . $code);
    exec(getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . escapeshellarg($file) . ' 2>&1', $output, $status);
    echo $status, ' ', implode(',', $output), "\n";
}
echo "main: "; run('spawn(function() { try { delay(9000); echo "never"; } finally { echo "u"; } }); suspend(); exit(3); echo "never";');
echo "main before any: "; run('exit(3);');
echo "main, text: "; run('spawn(fn() => 1); suspend(); exit("bye");');
echo "coroutine: "; run('spawn(function() { exit(4); echo "never"; }); delay(9000); echo "never";');
echo "coroutine, finally of its own: "; run('spawn(function() { try { exit(4); } finally { echo "never"; } }); delay(9000);');
echo "nested call: "; run('spawn(function() { array_map(function() { exit(5); }, [1, 2]); echo "never"; }); delay(9000); echo "never";');
echo "destructor in main: "; run('spawn(fn() => suspend()); suspend(); $d = new D; unset($d); echo "never";');
echo "destructor in a coroutine: "; run('spawn(function() { $d = new D; unset($d); echo "never"; }); delay(9000); echo "never";');
echo "destructor of the collector: "; run('spawn(function() { $d = new D; $d->o = $d; unset($d); gc_collect_cycles(); delay(9000); echo "never"; }); delay(9000); echo "never";');
echo "global destructor: "; run('spawn(fn() => suspend()); $d = new D;');
echo "shutdown function: "; run('register_shutdown_function(function() { spawn(function() { echo "c"; }); suspend(); exit(6); }); register_shutdown_function(function() { echo "never"; });');
echo "spawned by a shutdown function: "; run('register_shutdown_function(function() { spawn(function() { exit(6); }); echo "T"; });');
echo "output callback: "; run('spawn(function() { ob_start(function($b) { return "[$b]"; }); echo "x"; exit(8); }); delay(9000);');
echo "finally handler: "; run('$c = spawn(fn() => 1); $c->finally(function() { exit(9); }); delay(9000); echo "never";');
echo "finally handler, at once: "; run('$c = spawn(fn() => 1); suspend(); try { $c->finally(function() { exit(9); }); } catch (Throwable) { echo "never"; } finally { echo "never"; } echo "never";');
echo "scope handler: "; run('$s = new Async\Scope; $s->setExceptionHandler(function() { exit(10); }); $s->spawn(function() { throw new Exception; }); delay(9000); echo "never";');
echo "iterate: "; run('iterate([1, 2, 3], function($v) { echo $v; if ($v == 2) exit(11); }); echo "never";');
echo "iterate, suspending: "; run('iterate([1, 2, 3], function($v) { suspend(); if ($v == 2) exit(11); }); echo "never";');
echo "iterator: "; run('await_all((function() { yield spawn(fn() => 1); exit(12); })()); echo "never";');
echo "generator: "; run('function g() { yield 1; suspend(); exit(13); yield 2; } spawn(function() { foreach (g() as $x) echo $x; }); delay(9000); echo "never";');
echo "protect: "; run('spawn(function() { protect(function() { suspend(); exit(14); }); echo "never"; }); delay(9000); echo "never";');
echo "fiber: "; run('spawn(function() { $f = new Fiber(function() { Fiber::suspend(); exit(15); }); $f->start(); $f->resume(); echo "never"; }); delay(9000); echo "never";');
echo "task group: "; run('$g = new Async\TaskGroup; $g->spawn(function() { suspend(); exit(16); }); await($g->all()); echo "never";');
echo "future: "; run('$s = new Async\FutureState; $f = (new Async\Future($s))->map(function($v) { exit(17); }); $s->complete(1); await($f); echo "never";');
?>
--CLEAN--
<?php @unlink(__DIR__ . '/010-exit-anywhere.inc.php'); ?>
--EXPECT--
main: 3 uS
main before any: 3 S
main, text: 0 byeS
coroutine: 4 S
coroutine, finally of its own: 4 S
nested call: 5 S
destructor in main: 7 DS
destructor in a coroutine: 7 DS
destructor of the collector: 7 DS
global destructor: 7 SD
shutdown function: 6 Sc
spawned by a shutdown function: 6 ST
output callback: 8 [x]S
finally handler: 9 S
finally handler, at once: 9 S
scope handler: 10 S
iterate: 11 12S
iterate, suspending: 11 S
iterator: 12 S
generator: 13 1S
protect: 14 S
fiber: 15 S
task group: 16 S
future: 17 S
