<?php
// A server that answers only when all have asked: whoever blocks the others waits for ever.
//
// Usage: php gate.php PROTOCOL ADDRESS COUNT    PROTOCOL: http, https, line, tls. Prints the address it listens on.
[, $protocol, $address, $count] = $argv;
$options = [];
if ($protocol === 'https' || $protocol === 'tls') {
    $key = openssl_pkey_new(['private_key_bits' => 2048]);
    $request = openssl_csr_new(['commonName' => 'localhost'], $key);
    $certificate = openssl_csr_sign($request, null, $key, 1);
    openssl_x509_export($certificate, $text);
    openssl_pkey_export($key, $secret);
    $file = tempnam(sys_get_temp_dir(), 'gate');
    file_put_contents($file, $text . $secret);
    register_shutdown_function('unlink', $file);
    $options = ['ssl' => ['local_cert' => $file]];
}
$server = stream_socket_server($address, $errno, $error, context: stream_context_create($options)) or exit(1);
echo stream_socket_get_name($server, false), "\n";
$is_http = $protocol === 'http' || $protocol === 'https';
$answer = $is_http ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npong" : "pong\n";
$clients = $asked = [];
while (true) {
    $readable = [$server, ...array_values($clients)];
    $none = null;
    stream_select($readable, $none, $none, null);
    foreach ($readable as $stream) {
        if ($stream === $server) {
            $client = stream_socket_accept($server);
            $clients[(int) $client] = $client;
            continue;
        }
        do {
            $line = fgets($stream);
        } while ($is_http && $line !== false && trim($line) !== '');
        if ($line === false) {
            unset($clients[(int) $stream]);
        } else {
            $asked[] = $stream;
        }
    }
    if (count($asked) == $count) {
        foreach ($asked as $stream) {
            fwrite($stream, $answer);
            if ($is_http) {
                fclose($stream);
                unset($clients[(int) $stream]);
            }
        }
        $asked = [];
    }
}
