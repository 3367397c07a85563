--TEST--
Transparent I/O: stream_set_timeout() holds for stream_socket_recvfrom()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await};

$server = stream_socket_server('udp://127.0.0.1:0', flags: STREAM_SERVER_BIND);
$client = stream_socket_client('udp://' . stream_socket_get_name($server, false));
stream_set_timeout($server, 0, 20000);
$timed_out = fn() => stream_get_meta_data($server)['timed_out'];
await(spawn(function () use ($server, $client, $timed_out) {
    echo json_encode([stream_socket_recvfrom($server, 10), $timed_out()]), "\n";
    fwrite($client, 'there');
    echo json_encode([stream_socket_recvfrom($server, 10, STREAM_PEEK), stream_socket_recvfrom($server, 10, 0, $peer), $timed_out()]);
    echo $peer === stream_socket_get_name($client, false) ? " known\n" : " $peer\n";
}));
stream_set_timeout($server, 5);
spawn(fn() => fwrite($client, 'later'));
echo json_encode([stream_socket_recvfrom($server, 10), $timed_out()]), "\n";
stream_set_timeout($server, 0, 1000);
stream_set_blocking($server, false);
echo json_encode([@stream_socket_recvfrom($server, 10), $timed_out()]), "\n";
[$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_DGRAM, 0);
stream_set_timeout($one, 0, 1000);
echo json_encode([stream_socket_recvfrom($one, 10), stream_get_meta_data($one)['timed_out']]), "\n";
?>
--EXPECT--
[false,true]
["there","there",false] known
["later",false]
[false,false]
[false,true]
