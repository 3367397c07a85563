--TEST--
Transparent I/O: a library whose callback was cancelled while it waited for a descriptor of its own does not go on waiting
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, delay, suspend};

$server = stream_socket_server('tcp://127.0.0.1:0');
[$nothing, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
foreach (['stream_get_contents', 'array_map'] as $by) {
    $read = match ($by) {
        'stream_get_contents' => fn($body) => stream_get_contents($body),
        'array_map' => fn($body) => array_map(stream_get_contents(...), [$body]),
    };
    $has_begun = false;
    $inside = 0;
    $context = stream_context_create(['http' => ['timeout' => 8]], ['notification' => function ($what) use ($nothing, &$has_begun, &$inside) {
        if ($what === STREAM_NOTIFY_PROGRESS && $has_begun) {
            $inside++;
            fgets($nothing);
        }
    }]);
    $reader = spawn(function () use ($server, $context, $read, &$has_begun) {
        $body = fopen('http://' . stream_socket_get_name($server, false), 'r', false, $context);
        $has_begun = true;
        $read($body);
        echo "not cancelled\n";
    });
    $client = stream_socket_accept($server);
    while (trim(fgets($client)) !== '');
    fwrite($client, "HTTP/1.0 200 OK\r\n\r\n");
    while (!$has_begun) {
        suspend();
    }
    suspend();
    fwrite($client, 'a part');
    while ($inside === 0) {
        suspend();
    }
    suspend();
    $began = hrtime(true);
    $reader->cancel();
    try {
        await($reader);
    } catch (Async\AsyncCancellation) {
        echo "$by: cancelled, ", hrtime(true) - $began < 5e9 ? 'at once' : 'late', "\n";
    }
}
?>
--EXPECT--
stream_get_contents: cancelled, at once
array_map: cancelled, at once
