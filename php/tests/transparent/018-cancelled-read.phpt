--TEST--
Transparent I/O: a read that is cancelled takes nothing, not even what came in the same turn
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

function cancelled_read(string $name, mixed $reader, mixed $writer, bool $is_written_first): void {
    $reading = spawn(fn() => fread($reader, 10));
    suspend();
    if ($is_written_first) {
        fwrite($writer, 'x');
    }
    $reading->cancel();
    if (!$is_written_first) {
        fwrite($writer, 'x');
    }
    try {
        await($reading);
    } catch (Async\AsyncCancellation) {
        echo "$name: cancelled, then ", json_encode(fread($reader, 10)), "\n";
    }
}
foreach ([true, false] as $is_written_first) {
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    cancelled_read('socket', $b, $a, $is_written_first);
    $process = proc_open('cat', [['pipe', 'r'], ['pipe', 'w']], $pipes);
    stream_set_timeout($pipes[1], 5);
    cancelled_read('pipe with a limit', $pipes[1], $pipes[0], $is_written_first);
}

// Who waits for his turn gets it, and the data.
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$first = spawn(fn() => fread($b, 10));
$second = spawn(fn() => fread($b, 10));
suspend();
fwrite($a, 'for the second');
$first->cancel();
echo await($second), "\n";
?>
--EXPECT--
socket: cancelled, then "x"
pipe with a limit: cancelled, then "x"
socket: cancelled, then "x"
pipe with a limit: cancelled, then "x"
for the se
