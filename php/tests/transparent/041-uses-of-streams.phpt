--TEST--
Transparent I/O: whatever function works on a stream, at any place of its arguments: closing waits for it, writes over TLS take turns
--EXTENSIONS--
true_async
openssl
--FILE--
<?php
use function Async\{spawn, await, suspend, delay};
require __DIR__ . '/tls.inc';

function memory(int $size) {
    $memory = fopen('php://memory', 'r+');
    fwrite($memory, str_repeat('x', $size));
    rewind($memory);
    return $memory;
}
const SIZE = 4 << 20;

// Written by two, formatted and copied, while a third reads: all of it arrives, each whole.
foreach (['fprintf' => fn($s) => fprintf($s, '%s', str_repeat('x', SIZE)), 'copy' => fn($s) => stream_copy_to_stream(memory(SIZE), $s)] as $name => $write) {
    [$a, $b] = tls_pair();
    $one = spawn(fn() => $write($a));
    suspend();
    $two = spawn(fn() => fwrite($a, "second\n"));
    $third = spawn(fn() => fgets($a));
    $reader = spawn(function () use ($b) {
        for ($got = ''; strlen($got) < SIZE + 7;) {
            $got .= fread($b, 65536);
        }
        fwrite($b, "thanks\n");
        return strlen($got) . ' ' . substr($got, -7, 6);
    });
    echo "$name: ", await($one), ' ', await($two), ' ', await($reader), ' ', await($third);
}

// Closed meanwhile.
$uses = [
    'fprintf' => fn($s) => fprintf($s, '%s', str_repeat('x', SIZE)),
    'copy' => fn($s) => stream_copy_to_stream(memory(SIZE), $s),
    'put' => fn($s) => file_put_contents('/dev/null', $s),
    'feof' => function ($s) { while (!feof($s)) { if (fgetc($s) === false) return; } },
];
foreach ($uses as $name => $use) {
    [$a, $b] = tls_pair();
    $user = spawn(fn() => @$use($a));
    for ($i = 0; $i < 10; $i++) suspend();
    stream_set_blocking($b, false);
    spawn(function () use ($b) { while (is_resource($b) && !feof($b)) { fread($b, 65536); delay(1); } });
    fclose($a);
    await($user);
    fclose($b);
    echo "$name closed\n";
}

// A handshake, too.
$server = stream_socket_server('tcp://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create());
$client = stream_socket_client('tcp://' . stream_socket_get_name($server, false));
$accepted = stream_socket_accept($server);
$shaking = spawn(fn() => @stream_socket_enable_crypto($client, true, STREAM_CRYPTO_METHOD_TLS_CLIENT));
delay(2);
fclose($client);
var_dump(await($shaking));

// What reads from its second argument takes its turn.
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$line = spawn(fn() => stream_get_line($a, 100, "\n"));
suspend();
fwrite($b, 'AAA');
for ($i = 0; $i < 5; $i++) suspend();
$file = tempnam(sys_get_temp_dir(), 'put');
$put = spawn(fn() => file_put_contents($file, $a));
for ($i = 0; $i < 5; $i++) suspend();
fwrite($b, "hello\nworld\n");
for ($i = 0; $i < 5; $i++) suspend();
fclose($b);
var_dump(await($line), await($put), file_get_contents($file));
unlink($file);

// Persistent ones are found by others while they connect.
$listener = stream_socket_server('tcp://127.0.0.1:0');
$port = (int)explode(':', stream_socket_get_name($listener, false))[1];
$opened = [];
for ($i = 0; $i < 3; $i++) {
    $opened[] = spawn(fn() => is_resource(pfsockopen('127.0.0.1', $port)));
}
echo json_encode(array_map(fn($one) => await($one), $opened)), "\n";
?>
--EXPECT--
fprintf: 4194304 7 4194311 second thanks
copy: 4194304 7 4194311 second thanks
fprintf closed
copy closed
put closed
feof closed
bool(false)
string(8) "AAAhello"
int(6)
string(6) "world
"
[true,true,true]
