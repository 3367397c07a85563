--TEST--
Transparent I/O: cURL writes to and reads from pipes and sockets without holding up others, and fails when the other end has gone
--EXTENSIONS--
curl
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

$file = tempnam(sys_get_temp_dir(), 'curl');
function handle(string $file, array $options): CurlHandle {
    $handle = curl_init("file://$file");
    curl_setopt_array($handle, $options);
    return $handle;
}
function transfer(string $name, CurlHandle $handle): void {
    echo "$name: ", json_encode([curl_exec($handle), curl_errno($handle), curl_error($handle)]), "\n";
}

// Nobody reads any more.
foreach ([10, 100000] as $size) {
    file_put_contents($file, str_repeat('x', $size));
    await(spawn(function () use ($file) {
        $process = proc_open('exec 0<&-; echo closed', [['pipe', 'r'], ['pipe', 'w']], $pipes);
        fgets($pipes[1]);
        transfer('pipe', handle($file, [CURLOPT_FILE => $pipes[0]]));
        [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        fclose($theirs);
        transfer('socket', handle($file, [CURLOPT_FILE => $ours]));
    }));
}

// A slow reader, for whom nobody else waits.
file_put_contents($file, str_repeat('0123456789', 100000));
foreach (['pipe', 'socket'] as $kind) {
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    if ($kind === 'pipe') {
        $process = proc_open('exec cat', [['pipe', 'r'], $theirs], $pipes);
        fclose($theirs);
        [$theirs, $ours] = [$ours, $pipes[0]];
    }
    $is_over = false;
    $one = spawn(function () use ($kind, $file, $ours, &$is_over) {
        transfer($kind, handle($file, [CURLOPT_FILE => $ours]));
        $is_over = true;
        fclose($ours);
    });
    for ($i = 0; $i < 100; ++$i) {
        suspend();
    }
    echo $is_over ? "too early\n" : "others run\n";
    echo md5(stream_get_contents($theirs)) === md5_file($file) ? "all there\n" : "wrong data\n";
    await($one);
    unset($pipes, $ours);
}

// A source that has nothing yet.
$process = proc_open('exec cat', [['pipe', 'r'], ['pipe', 'w']], $pipes);
$one = spawn(function () use ($file, $pipes) {
    transfer('source', handle("$file.up", [CURLOPT_UPLOAD => true, CURLOPT_INFILE => $pipes[1], CURLOPT_INFILESIZE => 10]));
});
suspend();
fwrite($pipes[0], '01234');
suspend();
fwrite($pipes[0], '56789');
fclose($pipes[0]);
await($one);
echo file_get_contents("$file.up"), "\n";

// Who closes the file of a transfer waits until it is over.
$server = stream_socket_server('tcp://127.0.0.1:0');
$target = fopen("$file.down", 'w');
$handle = curl_init('http://' . stream_socket_get_name($server, false) . '/');
curl_setopt($handle, CURLOPT_FILE, $target);
$one = spawn(function () use ($handle) {
    transfer('closed meanwhile', $handle);
    echo "transferred\n";
});
$client = stream_socket_accept($server, 5);
while (trim(fgets($client)) !== '');
fwrite($client, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nping");
$other = spawn(function () use ($target) {
    fclose($target);
    echo "closed\n";
});
Async\delay(5);
fwrite($client, 'pong');
await_all([$one, $other]);
echo file_get_contents("$file.down"), "\n";

// The same in a multi handle, one of whose callbacks waits.
$target = fopen("$file.down", 'w');
$multi = curl_multi_init();
$slow = handle($file, [CURLOPT_WRITEFUNCTION => function ($handle, $data) use (&$is_inside) {
    $is_inside = true;
    Async\delay(5);
    $is_inside = false;
    return strlen($data);
}]);
$quick = handle($file, [CURLOPT_FILE => $target]);
curl_multi_add_handle($multi, $slow);
curl_multi_add_handle($multi, $quick);
$one = spawn(function () use ($multi) {
    do {
        curl_multi_exec($multi, $running);
        $running && curl_multi_select($multi, 0.01);
    } while ($running);
});
suspend();
$other = spawn(function () use ($target, &$is_inside) {
    echo $is_inside ? "inside\n" : "too late\n";
    fclose($target);
    echo $is_inside ? "too early\n" : "closed\n";
});
await_all([$one, $other]);
array_map('unlink', [$file, "$file.up", "$file.down"]);
?>
--EXPECTF--
pipe: [false,23,"Failure writing output to destination"]
socket: 
Notice: curl_exec(): Send of 10 bytes failed with errno=32 Broken pipe in %s on line %d
[false,23,"Failure writing output to destination"]
pipe: [false,23,"Failure writing output to destination"]
socket: 
Notice: curl_exec(): Send of 16384 bytes failed with errno=32 Broken pipe in %s on line %d
[false,23,"Failure writing output to destination"]
pipe: others run
[true,0,""]
all there
socket: others run
[true,0,""]
all there
source: [true,0,""]
0123456789
closed meanwhile: [true,0,""]
transferred
closed
pingpong
inside
closed
