--TEST--
Transparent I/O: MSG_WAITALL waits for everything, however it is received, within one SO_RCVTIMEO
--EXTENSIONS--
sockets
true_async
--FILE--
<?php
use function Async\{spawn, await, delay};

function tcp_pair() {
    $listener = socket_create_listen(0);
    socket_getsockname($listener, $host, $port);
    $client = socket_create(AF_INET, SOCK_STREAM, 0);
    socket_connect($client, '127.0.0.1', $port);
    return [socket_accept($listener), $client];
}
function unix_pair() {
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    return $pair;
}

/** `$receive` while 5 bytes come one by one; `$end` is what the sender does after that. */
function drip(string $name, array $pair, callable $receive, ?callable $end = null, int $count = 5) {
    [$socket, $peer] = $pair;
    $sender = spawn(function () use ($peer, $end, $count) {
        for ($i = 0; $i < $count; ++$i) {
            delay(20);
            socket_write($peer, chr(97 + $i));
        }
        $end && $end($peer);
    });
    echo $name, ': ', json_encode(await(spawn(fn() => $receive($socket)))), "\n";
    await($sender);
}

$recv = fn($socket) => [socket_recv($socket, $data, 5, MSG_WAITALL), $data];
$from = fn($socket) => [socket_recvfrom($socket, $data, 5, MSG_WAITALL, $address, $port), $data];
$message = function ($socket) {
    $message = ['buffer_size' => 5, 'controllen' => socket_cmsg_space(SOL_SOCKET, SCM_RIGHTS, 1)];
    return [socket_recvmsg($socket, $message, MSG_WAITALL), $message['iov']];
};
$peek = fn($socket) => [
    socket_recv($socket, $data, 5, MSG_WAITALL | MSG_PEEK), $data, socket_recv($socket, $again, 5, MSG_DONTWAIT), $again];
foreach (['tcp' => tcp_pair(...), 'unix' => unix_pair(...)] as $kind => $pair) {
    drip("$kind recv", $pair(), $recv);
    drip("$kind recvfrom", $pair(), $from);
    drip("$kind recvmsg", $pair(), $message);
}
drip('peek', tcp_pair(), $peek);

// The end.
foreach (['recv' => $recv, 'recvfrom' => $from, 'recvmsg' => $message, 'peek' => $peek] as $name => $receive) {
    drip("$name, end", tcp_pair(), $receive, fn($peer) => socket_shutdown($peer, 1), 2);
}

// An error waits for the next call.
[$socket, $peer] = tcp_pair();
drip('reset', [$socket, $peer], $recv, function ($peer) {
    delay(20);
    socket_set_option($peer, SOL_SOCKET, SO_LINGER, ['l_onoff' => 1, 'l_linger' => 0]);
    socket_close($peer);
}, 2);
var_dump(@socket_recv($socket, $data, 5, 0), socket_last_error($socket) === SOCKET_ECONNRESET);

// A descriptor ends a message.
drip('descriptor', unix_pair(), $message, fn($peer) => socket_sendmsg(
    $peer, ['iov' => ['x'], 'control' => [['level' => SOL_SOCKET, 'type' => SCM_RIGHTS, 'data' => [$peer]]]]), 2);

// One limit for all pieces.
foreach (['recv' => $recv, 'peek' => $peek] as $name => $receive) {
    [$socket, $peer] = tcp_pair();
    socket_set_option($socket, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 200_000]);
    $sender = spawn(function () use ($peer) {
        for ($i = 0; $i < 4; ++$i) {
            delay(120);
            socket_write($peer, 'x');
        }
    });
    $begin = hrtime(true);
    $got = await(spawn(fn() => $receive($socket)))[0];
    $took = (hrtime(true) - $begin) / 1e6;
    echo "$name, limit: $got ", $took >= 195 && $took < 350 ? 'in time' : $took, "\n";
    await($sender);
}
?>
--EXPECT--
tcp recv: [5,"abcde"]
tcp recvfrom: [5,"abcde"]
tcp recvmsg: [5,["abcde"]]
unix recv: [5,"abcde"]
unix recvfrom: [5,"abcde"]
unix recvmsg: [5,["abcde"]]
peek: [5,"abcde",5,"abcde"]
recv, end: [2,"ab"]
recvfrom, end: [2,"ab"]
recvmsg, end: [2,["ab"]]
peek, end: [2,"ab",2,"ab"]
reset: [2,"ab"]
bool(false)
bool(true)
descriptor: [3,["abx"]]
recv, limit: 1 in time
peek, limit: 1 in time
