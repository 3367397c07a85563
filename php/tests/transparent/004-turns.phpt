--TEST--
Transparent I/O: which functions let others run (traces 49 to 51)
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

function turns(string $name, callable $function): void {
    $order = '';
    $first = spawn(function () use ($function, &$order) {
        $order .= 'a';
        $function();
        $order .= 'b';
    });
    $second = spawn(function () use (&$order) { $order .= 'w'; });
    await($first);
    await($second);
    echo "$name: $order\n";
}

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
turns('stream_socket_server, tcp', fn() => stream_socket_server('tcp://127.0.0.1:0'));
turns('stream_socket_server, udp', fn() => stream_socket_server('udp://127.0.0.1:0', $e, $s, STREAM_SERVER_BIND));
turns('gethostbyname', fn() => gethostbyname('127.0.0.1'));
turns('gethostbynamel', fn() => gethostbynamel('localhost'));
turns('gethostbyaddr', fn() => gethostbyaddr('127.0.0.1'));
turns('sleep', fn() => sleep(0));
turns('usleep', fn() => usleep(0));
turns('exec', fn() => exec('true'));
turns('proc_close', fn() => proc_close(proc_open('sleep 0.05', [], $pipes)));
turns('fread that waits', function () use ($a) {
    stream_set_timeout($a, 0, 1000);
    fread($a, 1);
});
turns('stream_select', function () use ($a) {
    $r = [$a];
    $w = $e = null;
    stream_select($r, $w, $e, 0, 1000);
});
turns('fwrite', fn() => fwrite($a, 'x'));
turns('fflush', fn() => fflush($a));
turns('feof', fn() => feof($b));
turns('fread of what is there', fn() => fread($b, 1));
turns('stream_set_timeout', fn() => stream_set_timeout($b, 1));
turns('stream_socket_pair', fn() => stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0));
turns('fclose', fn() => fclose($b));

// 50: a write that fits takes no turn
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$selector = spawn(function () use ($a) {
    $r = [$a];
    $w = $e = null;
    stream_select($r, $w, $e, null);
    echo "selector\n";
});
$writer = spawn(function () use ($b) {
    echo "x\n";
    fwrite($b, 'hello');
    echo "y\n";
    fclose($b);
});
spawn(function () { echo "z\n"; });
await($selector);
?>
--EXPECT--
stream_socket_server, tcp: awb
stream_socket_server, udp: awb
gethostbyname: awb
gethostbynamel: awb
gethostbyaddr: awb
sleep: awb
usleep: awb
exec: awb
proc_close: awb
fread that waits: awb
stream_select: awb
fwrite: abw
fflush: abw
feof: abw
fread of what is there: abw
stream_set_timeout: abw
stream_socket_pair: abw
fclose: abw
x
y
z
selector
