--TEST--
A memory limit that is hit in main, in a handler, a callback or a destructor ends all coroutines: no code of theirs runs
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

foreach ([
    'main' => '$hog();',
    'callback' => 'array_map($hog, [1]);',
    'finally of a coroutine' => 'spawn(fn() => 1)->finally($hog); delay(1000);',
    'exception handler' => '$s = new Async\Scope; $s->setExceptionHandler($hog); $s->spawn(fn() => throw new Exception); delay(1000);',
    'future' => 'Async\Future::completed(1)->map($hog); delay(1000);',
    'iteration' => 'Async\iterate([1, 2], $hog);',
    'collected object' => '$o = new class { public $o; function __destruct() { $GLOBALS["hog"](); } }; $o->o = $o; unset($o); gc_collect_cycles(); delay(1000);',
] as $place => $code) {
    $code = 'use function Async\{spawn, suspend, delay};
        register_shutdown_function(function () { echo "shutdown function\n"; });
        spawn(function () { try { delay(1000); } catch (Throwable $e) { echo "caught\n"; } finally { echo "finally\n"; } echo "after\n"; });
        $hog = function () { str_repeat("x", 1 << 30); };
        suspend();
        ' . $code . ' echo "main goes on\n";';
    exec(escapeshellarg(PHP_BINARY) . ' -n -d memory_limit=16M -d display_errors=1 -d log_errors=0 -d html_errors=0 -d extension=' . true_async_so() . ' -r ' . escapeshellarg($code), $lines, $status);
    $lines = array_map(fn($line) => str_contains($line, 'memory size of') ? 'memory limit' : $line, array_filter($lines));
    echo "$place: ", implode(', ', $lines), " $status\n";
    $lines = [];
}
?>
--EXPECT--
main: memory limit, shutdown function 255
callback: memory limit, shutdown function 255
finally of a coroutine: memory limit, shutdown function 255
exception handler: memory limit, shutdown function 255
future: memory limit, shutdown function 255
iteration: memory limit, shutdown function 255
collected object: memory limit, shutdown function 255
