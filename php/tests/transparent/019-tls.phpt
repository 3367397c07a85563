--TEST--
Transparent I/O: TLS streams: cancel, close under a reader, both directions and several writers at once
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (!extension_loaded('openssl')) die('skip needs openssl'); ?>
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend, delay};
require __DIR__ . '/tls.inc';

// PHP tries again whatever poll says: a cancelled call must fail further below.
[$server, $client] = tls_pair();
foreach ([
    'fread' => fn() => fread($client, 10),
    'fwrite' => fn() => fwrite($client, str_repeat('x', 16 << 20)),
] as $name => $call) {
    $coroutine = spawn($call);
    delay(20);
    $began = microtime(true);
    $coroutine->cancel();
    try {
        await($coroutine);
    } catch (Async\AsyncCancellation) {
        echo "$name: cancelled ", microtime(true) - $began < 2 ? 'at once' : 'late', "\n";
    }
}

// One reads and waits, another one writes more than fits, and the other way round.
[$server, $client] = tls_pair();
$size = 4 << 20;
$reading = spawn(fn() => fread($client, 100));
suspend();
$writing = spawn(fn() => fwrite($client, str_repeat('x', $size)));
delay(20);
for ($got = 0; $got < $size; $got += strlen(fread($server, 65536)));
fwrite($server, 'bye');
echo 'written ', await($writing) === $size ? 'all' : 'less', ', read ', await($reading), "\n";

$writing = spawn(fn() => fwrite($client, str_repeat('x', $size)));
suspend();
$reading = spawn(fn() => fread($client, 100));
suspend();
for ($got = 0; $got < $size; $got += strlen(fread($server, 65536)));
fwrite($server, 'again');
echo 'written ', await($writing) === $size ? 'all' : 'less', ', read ', await($reading), "\n";

// Writers take turns: OpenSSL wants one write finished before the next.
$writers = [];
foreach (['a', 'b', 'c'] as $letter) {
    $writers[] = spawn(fn() => fwrite($client, str_repeat($letter, 1 << 20)));
}
suspend();
for ($text = ''; strlen($text) < 3 << 20; $text .= fread($server, 65536));
foreach ($writers as $writer) {
    echo await($writer) >> 20, ' ';
}
echo preg_match('/^a+b+c+$/', $text) || strlen(count_chars(preg_replace('/(.)\1+/', '$1', $text), 3)) === strlen(preg_replace('/(.)\1+/', '$1', $text))
    ? 'whole' : 'mixed', "\n";

// What the reader uses goes when he has left.
$reading = spawn(fn() => @fread($client, 10));
suspend();
fclose($client);
echo json_encode(await($reading)), "\n";
?>
--EXPECT--
fread: cancelled at once
fwrite: cancelled at once
written all, read bye
written all, read again
1 1 1 whole
""
