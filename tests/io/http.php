<?php
// An HTTP server for libraries, with a process per connection.
//
// Usage: php http.php    prints the address it listens on
//
// /slow/MS  answers after a while      /echo       tells what it was asked, as JSON     /redirect/N  N times, then /echo
// /status/N answers with that status   /chunked    a body in pieces                     /cookie      sets one and tells those it got
pcntl_signal(SIGCHLD, SIG_IGN);
$server = stream_socket_server('tcp://127.0.0.1:0');
echo stream_socket_get_name($server, false), "\n";
while ($client = @stream_socket_accept($server, -1)) {
    if (pcntl_fork() === 0) {
        fclose($server);
        serve($client);
        exit;
    }
    fclose($client);
}

function serve($client): void {
    while (($line = fgets($client)) !== false) {
        [$method, $path] = explode(' ', $line);
        for ($headers = []; trim($line = fgets($client)) !== '';) {
            [$name, $value] = explode(':', trim($line), 2);
            $headers[strtolower($name)] = trim($value);
        }
        if (isset($headers['expect'])) {
            fwrite($client, "HTTP/1.1 100 Continue\r\n\r\n");
        }
        $size = (int) ($headers['content-length'] ?? 0);
        answer($client, $method, $path, $headers, $size > 0 ? stream_get_contents($client, $size) : '');
        if (strtolower($headers['connection'] ?? '') === 'close') {
            return;
        }
    }
}

function answer($client, string $method, string $path, array $headers, string $body): void {
    [, $what, $argument] = explode('/', "$path/");
    $more = '';
    $status = '200 OK';
    switch ($what) {
        case 'slow':
            usleep(1000 * (int) $argument);
            $text = 'slow';
            break;
        case 'redirect':
            $status = '302 Found';
            $more = 'Location: ' . ($argument > 1 ? '/redirect/' . ($argument - 1) : '/echo') . "\r\n";
            $text = '';
            break;
        case 'status':
            $status = "$argument Reason";
            $text = "status $argument";
            break;
        case 'chunked':
            fwrite($client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            foreach (['one ', str_repeat('two ', 1000), 'three'] as $piece) {
                usleep(2000);
                fwrite($client, dechex(strlen($piece)) . "\r\n$piece\r\n");
            }
            fwrite($client, "0\r\n\r\n");
            return;
        case 'cookie':
            $more = "Set-Cookie: number=$argument\r\n";
            $text = $headers['cookie'] ?? 'none';
            break;
        default:
            $text = json_encode(['method' => $method, 'path' => $path, 'x' => $headers['x-test'] ?? null, 'body' => $body]);
    }
    fwrite($client, "HTTP/1.1 $status\r\nContent-Type: text/plain\r\n{$more}Content-Length: " . strlen($text) . "\r\n\r\n" . ($method === 'HEAD' ? '' : $text));
}
