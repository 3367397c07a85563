--TEST--
Transparent I/O: a coroutine that is cancelled in a blocking function leaves it with the cancellation, without a warning
--EXTENSIONS--
true_async
posix
--FILE--
<?php
use function Async\{spawn, await, suspend, delay};

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$server = stream_socket_server('tcp://127.0.0.1:0');
$name = sys_get_temp_dir() . '/true-async-fifo-' . getmypid();
posix_mkfifo($name, 0600);
$fifo = fopen($name, 'r+');
$lock = fopen($name . '-lock', 'w');
flock($lock, LOCK_EX);

$ways = [
    'sleep' => fn() => sleep(10),
    'usleep' => fn() => usleep(10_000_000),
    'fgets of a socket' => fn() => fgets($a),
    'fgets of a fifo' => fn() => fgets($fifo),
    'stream_socket_accept' => fn() => stream_socket_accept($server, 10),
    '@stream_socket_accept' => fn() => @stream_socket_accept($server, 10),
    'stream_select' => function () use ($a) { $r = [$a]; $w = $e = null; stream_select($r, $w, $e, 10); },
    'exec' => fn() => exec('sleep 10'),
    'proc_close' => fn() => proc_close(proc_open(['sleep', '0.3'], [], $pipes)),
    'flock' => fn() => flock(fopen($name . '-lock', 'w'), LOCK_EX),
    'gethostbyname' => fn() => gethostbyname('localhost'),
    'file_get_contents' => fn() => file_get_contents('http://' . stream_socket_get_name($server, false) . '/'),
];
foreach ($ways as $what => $way) {
    $coroutine = spawn(function () use ($way) {
        try {
            $way();
            echo "not reached\n";
        } catch (Exception | Error $e) {
            echo 'not a cancellation: ', get_class($e), "\n";
        } finally {
            usleep(1);  // waiting works again
        }
    });
    suspend();
    suspend();
    $coroutine->cancel(new Async\AsyncCancellation('enough'));
    try {
        await($coroutine);
    } catch (Async\AsyncCancellation $e) {
        echo "$what: ", $e->getMessage(), "\n";
    }
}

// What the function itself throws is the previous one.
$coroutine = spawn(function () use ($name) {
    try {
        (new SplFileObject($name, 'r+'))->fread(10);
        (new SplFileObject($name, 'r+'))->fgets();
    } catch (RuntimeException $e) {
        echo "caught by the wrong one\n";
    }
});
suspend();
$coroutine->cancel(new Async\AsyncCancellation('enough'));
try {
    await($coroutine);
} catch (Async\AsyncCancellation $e) {
    echo get_class($e), ', ', $e->getPrevious() ? get_class($e->getPrevious()) : 'alone', "\n";
}
unlink($name);
unlink($name . '-lock');
?>
--EXPECT--
sleep: enough
usleep: enough
fgets of a socket: enough
fgets of a fifo: enough
stream_socket_accept: enough
@stream_socket_accept: enough
stream_select: enough
exec: enough
proc_close: enough
flock: enough
gethostbyname: enough
file_get_contents: enough
Async\AsyncCancellation, alone
