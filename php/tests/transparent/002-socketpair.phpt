--TEST--
Transparent I/O: a coroutine waits in fgets() while another one writes
--FILE--
<?php
use function Async\{spawn, await, suspend};

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$reader = spawn(function () use ($a, $b) {
    for ($i = 0; $i < 3; $i++) {
        echo 'read: ' . fgets($a);
        fwrite($a, "answer $i\n");
    }
});
$writer = spawn(function () use ($b) {
    for ($i = 0; $i < 3; $i++) {
        echo "write $i\n";
        fwrite($b, "line $i\n");
        echo 'got: ' . fgets($b);
    }
});
await($reader);
await($writer);

// More than fits: the writer waits for the reader.
$size = 4 << 20;
$writer = spawn(function () use ($b, $size) {
    $sent = fwrite($b, str_repeat('x', $size));
    fclose($b);
    return $sent;
});
$length = strlen(stream_get_contents($a));
var_dump($length === $size, await($writer) === $size);
?>
--EXPECT--
write 0
read: line 0
got: answer 0
write 1
read: line 1
got: answer 1
write 2
read: line 2
got: answer 2
bool(true)
bool(true)
