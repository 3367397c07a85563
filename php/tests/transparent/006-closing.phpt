--TEST--
Transparent I/O: closing a stream while another coroutine waits for it
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

function closing(string $name, mixed $stream, callable $wait, callable $close): void {
    $waiter = spawn(function () use ($stream, $wait) {
        try {
            return $wait($stream);
        } catch (Throwable $e) {
            return get_class($e);
        }
    });
    suspend();
    $close($stream);
    echo "$name: ", json_encode(await($waiter)), "\n";
}
[$a] = $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
closing('fgets of a socket', $a, fn($s) => fgets($s), fn($s) => fclose($s));
[$a] = $pair2 = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
closing('stream_get_contents', $a, fn($s) => stream_get_contents($s), fn($s) => fclose($s));
closing('fread of a pipe', popen('sleep 0.1', 'r'), fn($s) => fread($s, 10), fn($s) => pclose($s));
closing('accept', stream_socket_server('tcp://127.0.0.1:0'), fn($s) => stream_socket_accept($s, 5), fn($s) => fclose($s));
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
closing('fwrite', $a, fn($s) => fwrite($s, str_repeat('x', 1 << 20)) < 1 << 20, fn($s) => fclose($s));
$process = proc_open('sleep 0.1', [1 => ['pipe', 'w']], $pipes);
closing('proc_close', $process, fn() => fread($pipes[1], 10), fn($p) => proc_close($p));
?>
--EXPECTF--
fgets of a socket: false
stream_get_contents: ""
fread of a pipe: false

Warning: stream_socket_accept(): Accept failed: Bad file descriptor in %s
accept: false
fwrite: true
proc_close: false
