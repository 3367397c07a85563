--TEST--
Transparent I/O: processes that share a listener: accept neither blocks the others of its process nor fails
--EXTENSIONS--
true_async
pcntl
posix
sockets
--FILE--
<?php
use function Async\{await_all, spawn};

$listener = socket_create(AF_INET, SOCK_STREAM, 0);
socket_bind($listener, '127.0.0.1', 0);
socket_listen($listener, 500);
socket_getsockname($listener, $host, $port);
[$end, $mine] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$workers = [];
for ($i = 0; $i < 4; $i++) {
    if (($workers[] = pcntl_fork()) === 0) {
        fclose($mine);
        $failed = 0;
        $acceptor = spawn(function () use ($listener, &$failed) {
            while (true) {
                $peer = @socket_accept($listener);
                if ($peer) {
                    socket_close($peer);
                } else {
                    $failed++;
                }
            }
        });
        await_all([spawn(function () use ($end, &$failed) {
            fgets($end);
            posix_kill(getmypid(), $failed ? SIGKILL : SIGTERM);
        })]);
    }
}
fclose($end);
for ($i = 0; $i < 100; $i++) {
    fclose(stream_socket_client("tcp://127.0.0.1:$port"));
    usleep($i % 10 ? 500 : 5000);
}
fclose($mine);
foreach ($workers as $worker) {
    for ($i = 0; $i < 300 && pcntl_waitpid($worker, $status, WNOHANG) === 0; $i++) {
        usleep(10000);
    }
    if ($i === 300) {
        posix_kill($worker, SIGKILL);
        pcntl_waitpid($worker, $status);
        echo "blocked\n";
    } else {
        echo pcntl_wtermsig($status) === SIGTERM ? "fine\n" : "failed\n";
    }
}
?>
--EXPECT--
fine
fine
fine
fine
