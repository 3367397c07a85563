<?php
// A server that answers only when all have asked: whoever blocks the others waits for ever.
//
// Usage: php gate.php PROTOCOL ADDRESS COUNT [DELAY]    PROTOCOL: http, https, soap, line, tls, memcached. Prints the address it listens on.
[, $protocol, $address, $count] = $argv;
$delay = (float) ($argv[4] ?? 0);
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

$http = fn(string $body): string => "HTTP/1.1 200 OK\r\nContent-Length: " . strlen($body) . "\r\nConnection: close\r\n\r\n$body";
$envelope = '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><r><return>pong</return></r></e:Body></e:Envelope>';
$is_http = in_array($protocol, ['http', 'https', 'soap'], true);
$answer_to = fn(string $line): string => match ($protocol) {
    'http', 'https' => $http('pong'),
    'soap' => $http($envelope),
    'memcached' => 'VALUE ' . explode(' ', trim($line))[1] . " 0 4\r\npong\r\nEND\r\n",
    default => "pong\n",
};
/** The request, to its end. */
$read = function ($stream) use ($is_http): string|false {
    $first = $line = fgets($stream);
    for ($size = 0; $is_http && $line !== false && trim($line) !== ''; $line = fgets($stream)) {
        $size = sscanf(strtolower($line), 'content-length: %d')[0] ?? $size;
    }
    $is_http && $size > 0 && stream_get_contents($stream, $size);
    return $line === false ? false : $first;
};
$clients = $asked = [];
while (true) {
    $readable = [$server, ...array_values($clients)];
    $none = null;
    stream_select($readable, $none, $none, null);
    foreach ($readable as $stream) {
        if ($stream === $server) {
            $client = stream_socket_accept($server);
            $clients[(int) $client] = $client;
        } elseif (($request = $read($stream)) === false) {
            unset($clients[(int) $stream]);
        } else {
            $asked[] = [$stream, $answer_to($request)];
        }
    }
    if (count($asked) == $count) {
        usleep((int) ($delay * 1e6));
        foreach ($asked as [$stream, $answer]) {
            fwrite($stream, $answer);
            if ($is_http) {
                fclose($stream);
                unset($clients[(int) $stream]);
            }
        }
        $asked = [];
    }
}
