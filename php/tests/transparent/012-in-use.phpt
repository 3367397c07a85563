--TEST--
Transparent I/O: a handle that another coroutine is using is refused, and both are named
--EXTENSIONS--
curl
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend, await_all};

$server = stream_socket_server('tcp://127.0.0.1:0');
$handle = curl_init('http://' . stream_socket_get_name($server, false) . '/');
curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
$answer = function ($client) {
    while (trim(fgets($client)) !== '');
    fwrite($client, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npong");
    fclose($client);
};

$first = spawn(fn() => curl_exec($handle));
$client = stream_socket_accept($server, 5);
$ways = [
    'curl_exec' => fn() => curl_exec($handle),
    'curl_setopt' => fn() => curl_setopt($handle, CURLOPT_URL, 'http://127.0.0.1:1/'),
    'call_user_func' => fn() => call_user_func('curl_reset', $handle),
    'copy' => fn() => curl_copy_handle($handle),
];
foreach ($ways as $way) {
    $second = spawn($way);
    try {
        await($second);
        echo "not reached\n";
    } catch (Async\AsyncException $e) {
        $text = $e->getMessage();
        foreach (['first' => $first, 'second' => $second] as $name => $coroutine) {
            $text = str_replace(['Coroutine ' . $coroutine->getId() . ' spawned', __FILE__ . ':'], ["<$name> spawned", 'line '], $text);
        }
        echo preg_replace('/line \d+/', 'line N', $text), "\n";
    }
}
echo 'looking is allowed: ', await(spawn(fn() => curl_errno($handle))), "\n";
$answer($client);
echo await($first), "\n";

// Handed over after use.
$first = spawn(fn() => curl_exec($handle));
$answer(stream_socket_accept($server, 5));
echo await($first), "\n";

// Of the first coroutine nothing is left.
$first->cancel();
$first = spawn(fn() => curl_exec($handle));
$client = stream_socket_accept($server, 5);
$first->cancel();
await_all([$first]);
fclose($client);
$second = spawn(fn() => curl_exec($handle));
$answer(stream_socket_accept($server, 5));
echo await($second), "\n";

// Several in one multi handle. It is never left while another is in the middle of it.
$multi = curl_multi_init();
$is_inside = false;
$run = function () use ($multi, $server, &$is_inside) {
    $handle = curl_init('http://' . stream_socket_get_name($server, false) . '/');
    curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
    curl_multi_add_handle($multi, $handle);
    do {
        $is_inside && print("another is inside\n");
        $is_inside = true;
        curl_multi_exec($multi, $running);
        $is_inside = false;
        curl_multi_select($multi, 5);
    } while (curl_multi_getcontent($handle) === '' || $running > 0);
    return curl_multi_getcontent($handle) . ($running < 0 ? $running : '');
};
$all = [spawn($run), spawn($run), spawn($run)];
$clients = array_map(fn() => stream_socket_accept($server, 5), $all);
array_map($answer, $clients);
echo implode(' ', array_map(fn($one) => await($one), $all)), "\n";
?>
--EXPECT--
curl_exec(): this CurlHandle is in use. <first> spawned at line N, suspended at line N, has not come back from its own call. <second> spawned at line N must not use it meanwhile: give each coroutine its own, take one from a pool, or await the other coroutine first
curl_setopt(): this CurlHandle is in use. <first> spawned at line N, suspended at line N, has not come back from its own call. <second> spawned at line N must not use it meanwhile: give each coroutine its own, take one from a pool, or await the other coroutine first
curl_reset(): this CurlHandle is in use. <first> spawned at line N, suspended at line N, has not come back from its own call. <second> spawned at line N must not use it meanwhile: give each coroutine its own, take one from a pool, or await the other coroutine first
curl_copy_handle(): this CurlHandle is in use. <first> spawned at line N, suspended at line N, has not come back from its own call. <second> spawned at line N must not use it meanwhile: give each coroutine its own, take one from a pool, or await the other coroutine first
looking is allowed: 0
pong
pong
pong
pong pong pong
