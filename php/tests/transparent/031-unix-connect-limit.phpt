--TEST--
Transparent I/O: connect() to a unix socket with a full queue keeps to SO_SNDTIMEO and ends when its socket is closed
--EXTENSIONS--
posix
sockets
true_async
--FILE--
<?php
use function Async\{spawn, await, delay};

$path = "\0true-async-" . getmypid();
$listener = socket_create(AF_UNIX, SOCK_STREAM, 0);
socket_bind($listener, $path);
socket_listen($listener, 0);
$first = socket_create(AF_UNIX, SOCK_STREAM, 0);
socket_connect($first, $path);

await(spawn(function () use ($path) {
    $socket = socket_create(AF_UNIX, SOCK_STREAM, 0);
    socket_set_option($socket, SOL_SOCKET, SO_SNDTIMEO, ['sec' => 0, 'usec' => 100_000]);
    $begin = hrtime(true);
    var_dump(@socket_connect($socket, $path), socket_last_error($socket) === SOCKET_EAGAIN);
    $took = (hrtime(true) - $begin) / 1e6;
    echo $took >= 100 && $took < 2000 ? 'in time' : $took, "\n";
}));

$socket = socket_create(AF_UNIX, SOCK_STREAM, 0);
$waiter = spawn(fn() => [@socket_connect($socket, $path), posix_strerror(socket_last_error())]);
delay(20);
socket_close($socket);
$other = socket_create(AF_UNIX, SOCK_STREAM, 0); // gets the number
delay(50);
socket_accept($listener);
echo json_encode(await($waiter)), "\n";
var_dump(@socket_getpeername($other, $address));
?>
--EXPECT--
bool(false)
bool(true)
in time
[false,"Bad file descriptor"]
bool(false)
