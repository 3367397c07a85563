--TEST--
Fatal errors: in a handler or a destructor where the core is at work; other coroutines end, shutdown functions and handlers of scopes are called
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

foreach ([
    'handler of a scope' => '$s->setExceptionHandler($fatal); $s->spawn(fn() => throw new Exception);',
    'handler of child scopes' => '$s->setChildScopeExceptionHandler($fatal); $child = Scope::inherit($s); $child->spawn(fn() => throw new Exception);',
    'handler that waits for a scope' => '
        $s->spawn(function () { try { delay(100); } finally { suspend(); suspend(); suspend(); throw new Exception; } });
        suspend(); $s->cancel(); $s->awaitAfterCancellation($fatal);',
    'first finally of a scope' => '$t = new Scope; $t->finally($fatal); $t->finally(fn() => print("second of t\n")); $t->dispose();',
    'finally of a scope that is about to be called' => '$t = new Scope; $t->finally(fn() => print("first of t\n")); $t->finally(fn() => print("second of t\n")); spawn($fatal); $t->dispose(); $fatal();',
    'argument of who never began' => 'spawn(fn() => 1, new T)->cancel();',
    'result' => 'spawn(fn() => new T);',
] as $place => $code) {
    $code = 'use Async\Scope; use function Async\{spawn, suspend, delay};
        register_shutdown_function(function () { echo "shutdown function\n"; });
        $fatal = function () { trigger_error("fatal", E_USER_ERROR); };
        class T { function __destruct() { $GLOBALS["fatal"](); } }
        spawn(function () { try { delay(1000); } catch (Throwable $e) { echo "caught\n"; } finally { echo "finally\n"; } echo "after\n"; });
        suspend();
        $s = new Scope;
        $s->finally(fn() => print("of the scope\n"));
        ' . $code . ' delay(1000); echo "main goes on\n";';
    exec(escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 -d extension=' . true_async_so() . ' -r ' . escapeshellarg($code), $lines, $status);
    $lines = array_map(fn($line) => str_contains($line, 'Fatal error: fatal in') ? 'fatal' : $line, array_filter($lines));
    echo "$place: ", implode(', ', $lines), " $status\n";
    $lines = [];
}
?>
--EXPECT--
handler of a scope: fatal, shutdown function, of the scope 255
handler of child scopes: fatal, shutdown function, of the scope 255
handler that waits for a scope: fatal, shutdown function, of the scope 255
first finally of a scope: fatal, shutdown function, second of t, of the scope 255
finally of a scope that is about to be called: fatal, shutdown function, first of t, second of t, of the scope 255
argument of who never began: fatal, shutdown function, of the scope 255
result: fatal, shutdown function, of the scope 255
