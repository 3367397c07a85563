<?php
// A name server that answers only when COUNT different names have been asked for, then at once: every name is 127.0.0.1, every address is
// host.slow.test, every mail server mx.NAME.
//
// Usage: php dns.php ADDRESS COUNT    prints a line when it listens
[, $address, $count] = $argv;
$server = stream_socket_server("udp://$address", $errno, $error, STREAM_SERVER_BIND) or exit("$error\n");
echo "ready\n";
$waiting = $names = [];
while (($query = stream_socket_recvfrom($server, 512, 0, $client)) !== false) {
    $end = strpos($query, "\0", 12);
    $question = substr($query, 12, $end + 5 - 12);
    $type = unpack('n', substr($query, $end + 1))[1];
    $data = match ($type) {
        1 => "\x7f\0\0\1",
        15 => "\0\12\2mx\xc0\x0c",
        12 => "\4host\4slow\4test\0",
        default => null,
    };
    $answer = substr($query, 0, 2) . pack('n5', 0x8180, 1, $data !== null, 0, 0) . $question .
        ($data !== null ? pack('nnnNn', 0xc00c, $type, 1, 60, strlen($data)) . $data : '');
    $waiting[] = [$answer, $client];
    $names[strtolower(substr($query, 12, $end - 12))] = true;
    if (count($names) >= $count) {
        foreach ($waiting as [$answer, $client]) {
            stream_socket_sendto($server, $answer, 0, $client);
        }
        $waiting = [];
    }
}
