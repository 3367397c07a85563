<?php
// A slow web server, for the demonstration: every page takes a while. Plain PHP, no extension. Prints its port; ends with its standard input.

[, $delay] = $argv;
$server = stream_socket_server('tcp://127.0.0.1:0', context: stream_context_create(['socket' => ['backlog' => 512]]));
echo explode(':', stream_socket_get_name($server, false))[1], "\n";
$connections = $answers = [];  // who is still asking; what to send to whom, and when

for (;;) {
    $now = microtime(true);
    while ($answers && $answers[0][0] <= $now) {
        [, $connection, $page] = array_shift($answers);
        $text = "This is $page.\n";
        fwrite($connection, "HTTP/1.0 200 OK\r\nContent-Length: " . strlen($text) . "\r\n\r\n$text");
        fclose($connection);
    }
    $wait = $answers ? (int) max(1, ($answers[0][0] - $now) * 1e6) : 10_000_000;
    $read = [STDIN, $server, ...$connections];
    $none = null;
    stream_select($read, $none, $none, 0, $wait);
    foreach ($read as $stream) {
        if ($stream === STDIN) {
            exit;
        }
        if ($stream === $server) {
            $connections[] = stream_socket_accept($server);
            continue;
        }
        $request = fgets($stream);
        unset($connections[array_search($stream, $connections, true)]);
        if ($request !== false) {
            $answers[] = [microtime(true) + $delay, $stream, explode(' ', $request)[1]];
        }
    }
}
