--TEST--
Transparent I/O: a library whose callback was cancelled does not go on waiting
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

use function Async\{spawn, await, delay};

$silent = stream_socket_server('tcp://127.0.0.1:0');
$url = 'http://' . stream_socket_get_name($silent, false);

/** Cancels it while its callback is in `delay()`. */
function cancelled(Closure $call): void {
    $coroutine = spawn($call);
    while (!$GLOBALS['is_waiting']) {
        delay(1);
    }
    $begin = hrtime(true);
    $coroutine->cancel();
    try {
        await($coroutine);
    } catch (Throwable $e) {
        $previous = $e->getPrevious();
        echo get_class($e), $previous ? ' with ' . get_class($previous) : '', ', ',
            (hrtime(true) - $begin) / 1e9 < 5 ? 'at once' : 'late', ', cancelled: ', json_encode($coroutine->isCancelled()), "\n";
    }
}
$waits = function () use (&$is_waiting) {
    $is_waiting = true;
    try {
        delay(60_000);
    } finally {
        $is_waiting = false;
    }
};
$context = stream_context_create(['http' => ['timeout' => 8]], ['notification' => $waits]);
cancelled(fn() => file_get_contents($url, false, $context));
cancelled(fn() => fopen($url, 'r', false, $context));

// What is freed on the way out of PHP code still waits: this pipe is full.
[$read, $write] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$coroutine = spawn(function () use (&$write, $waits) {
    stream_set_blocking($write, false);
    while (fwrite($write, str_repeat('x', 8192)) > 0) {
    }
    stream_set_blocking($write, true);
    $last = new class($write) {
        function __construct(private $stream) {}
        function __destruct() {
            fwrite($this->stream, 'the end');
            fclose($this->stream);
        }
    };
    $write = null;
    $waits();
});
while (!$is_waiting) {
    delay(1);
}
$coroutine->cancel();
echo substr(stream_get_contents($read), -7), "\n";

// What is printed goes out whole, also when the output callback was cancelled and nobody reads yet.
$code = 'use function Async\{spawn, suspend, delay};
    $c = spawn(function () {
        ob_start(fn($all) => delay(60_000) ?? $all);
        echo str_repeat("x", 300_000);
        ob_end_flush();
    });
    suspend();
    $c->cancel();
    for ($i = 0; $i < 5; $i++) suspend();
    fwrite(STDERR, "read\n");';
$process = proc_open([PHP_BINARY, '-n', '-d', 'extension=' . true_async_so(), '-r', $code], [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
echo fgets($pipes[2]), strlen(stream_get_contents($pipes[1])), ' ', proc_close($process), "\n";
?>
--EXPECT--
Async\AsyncCancellation, at once, cancelled: true
Async\AsyncCancellation, at once, cancelled: true
the end
read
300000 0
