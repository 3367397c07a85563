--TEST--
Handlers of finally() that wait when a shutdown begins run to their end; after a fatal error nothing of them runs
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

foreach (['Async\graceful_shutdown();', 'throw new Exception("uncaught");', 'exit(3);', 'str_repeat("x", 1 << 30);'] as $end) {
    $code = 'use function Async\{spawn, suspend, delay};
        $handler = fn(string $name) => function () use ($name) {
            echo "$name begins\n";
            try { delay(2); echo "$name ends\n"; } catch (Throwable $e) { echo $name, " ", get_class($e), "\n"; }
        };
        spawn(fn() => 1)->finally($handler("coroutine"));
        $scope = new Async\Scope;
        $scope->finally($handler("scope"));
        $scope->dispose();
        suspend(); suspend();
        ' . $end;
    exec(escapeshellarg(PHP_BINARY) . ' -n -d memory_limit=16M -d display_errors=0 -d extension=' . true_async_so() . ' -r ' . escapeshellarg($code) . ' 2>/dev/null', $lines, $status);
    echo implode(', ', array_filter($lines)), " $status\n";
    $lines = [];
}
?>
--EXPECT--
scope begins, coroutine begins, scope ends, coroutine ends 0
scope begins, coroutine begins, scope ends, coroutine ends 255
scope begins, coroutine begins, scope ends, coroutine ends 3
scope begins, coroutine begins 255
