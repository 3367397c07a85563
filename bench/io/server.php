<?php
// The server of the HTTP figures: plain streams, a coroutine for each connection. Prints its port and process.

use function Async\spawn;

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

function serve($connection): void {
    while (stream_get_line($connection, 8192, "\r\n\r\n") !== false) {
        fwrite($connection, ANSWER);
    }
    fclose($connection);
}

$context = stream_context_create(['socket' => ['backlog' => 4096]]);
$server = stream_socket_server('tcp://127.0.0.1:0', context: $context);
echo explode(':', stream_socket_get_name($server, false))[1], ':', getmypid(), "\n";
while ($connection = stream_socket_accept($server, 3600)) {
    spawn(serve(...), $connection);
}
