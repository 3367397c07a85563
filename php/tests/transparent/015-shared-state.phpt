--TEST--
Transparent I/O: what PHP keeps once for all calls is not mixed up between coroutines
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

// proc_close() waits for its process; one that is only dropped is not waited for, also while somebody is in proc_close().
$first = proc_open('read line; exit 3', [['pipe', 'r']], $first_pipes);
$input = $first_pipes[0];
$second = proc_open('read line', [['pipe', 'r']], $second_pipes);
$held = $second_pipes[0];
$process = proc_open('sleep 0.2; exit 4', [], $none);
$closer = spawn(fn() => proc_close($process));
suspend();
$dropper = spawn(function () use (&$second) {
    $second = null;
    return 'dropped';
});
suspend();
suspend();
echo json_encode($dropper->isCompleted()), ' ', json_encode($closer->isCompleted()), "\n";
echo await($closer), "\n";
unset($held, $second_pipes, $dropper);

// Its pipes are closed first, for which it may have to wait itself.
$slow = proc_open('sleep 0.2; exit 5', [1 => ['pipe', 'w']], $slow_pipes);
$reader = spawn(fn() => @fread($slow_pipes[1], 10));
suspend();
$closer = spawn(fn() => proc_close($slow));
$other = spawn(fn() => proc_close(proc_open('exit 6', [], $none)));
echo await($other), ' ', await($closer), ' ', json_encode(await($reader)), "\n";
fclose($input);
echo proc_close($first), "\n";

// Everybody's warning tells of his own failure.
$server = stream_socket_server('tcp://127.0.0.1:0');
$name = stream_socket_get_name($server, false);
spawn(function () use ($server) {
    for ($i = 0; $i < 6; $i++) {
        $client = stream_socket_accept($server);
        spawn(function () use ($client) {
            $number = (int) substr(fgets($client), 5);
            while (trim(fgets($client)) !== '');
            usleep(1000 * (7 - $number));
            fwrite($client, 'HTTP/1.0 ' . ($number % 2 ? "40$number reason $number" : '200 OK') . "\r\n");
            usleep(1000 * $number);
            fwrite($client, "X-Header: yes\r\n\r\nbody $number");
            fclose($client);
        });
    }
});
$all = [];
for ($i = 1; $i <= 6; $i++) {
    $all[] = spawn(function () use ($i, $name) {
        $context = stream_context_create([], ['notification' => fn() => usleep(500)]);
        $text = @file_get_contents("http://$name/$i", false, $context);
        return $text === false ? preg_replace('/.*: /s', '', error_get_last()['message']) : $text;
    });
}
foreach ($all as $one) {
    echo trim(await($one)), "\n";
}
?>
--EXPECT--
true false
4
6 5 false
3
HTTP request failed! HTTP/1.0 401 reason 1
body 2
HTTP request failed! HTTP/1.0 403 reason 3
body 4
HTTP request failed! HTTP/1.0 405 reason 5
body 6
