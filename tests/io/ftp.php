<?php
// An FTP server that begins to send only when COUNT files have been asked for. Every file holds "pong".
//
// Usage: php ftp.php COUNT    prints the address it listens on
$count = (int) $argv[1];
$server = stream_socket_server('tcp://127.0.0.1:0');
echo stream_socket_get_name($server, false), "\n";
$clients = $doors = $wanted = [];
while (true) {
    $readable = [$server, ...array_values($clients)];
    $none = null;
    stream_select($readable, $none, $none, null);
    foreach ($readable as $stream) {
        if ($stream === $server) {
            $client = stream_socket_accept($server);
            $clients[(int) $client] = $client;
            fwrite($client, "220 ready\r\n");
            continue;
        }
        $line = fgets($stream);
        if ($line === false) {
            unset($clients[(int) $stream]);
            continue;
        }
        switch (strtok(trim($line), ' ')) {
            case 'USER': fwrite($stream, "331 password\r\n"); break;
            case 'PASS': fwrite($stream, "230 welcome\r\n"); break;
            case 'TYPE': fwrite($stream, "200 fine\r\n"); break;
            case 'SIZE': fwrite($stream, "213 4\r\n"); break;
            case 'EPSV':
                $doors[(int) $stream] = stream_socket_server('tcp://127.0.0.1:0');
                $port = explode(':', stream_socket_get_name($doors[(int) $stream], false))[1];
                fwrite($stream, "229 come in (|||$port|)\r\n");
                break;
            case 'RETR': $wanted[] = $stream; break;
            case 'QUIT': fwrite($stream, "221 bye\r\n"); break;
            default: fwrite($stream, "502 no\r\n");
        }
    }
    if (count($wanted) === $count) {
        foreach ($wanted as $stream) {
            fwrite($stream, "150 it comes\r\n");
            $data = stream_socket_accept($doors[(int) $stream]);
            fwrite($data, 'pong');
            fclose($data);
            fwrite($stream, "226 that is all\r\n");
        }
        $wanted = [];
    }
}
