--TEST--
Transparent I/O: stream_set_timeout() on pipes
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

function state($stream): string {
    $meta = stream_get_meta_data($stream);
    return 'timed_out ' . json_encode($meta['timed_out']) . ', eof ' . json_encode($meta['eof']);
}
function check(string $where): void {
    echo "$where\n";
    $process = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
    [$in, $out] = $pipes;
    echo json_encode(stream_set_timeout($out, 0, 20_000)), ', ', state($out), "\n";
    echo json_encode(fgets($out)), ', ', state($out), "\n";
    echo json_encode(fread($out, 10)), ', ', state($out), "\n";
    fwrite($in, "hello\n");
    stream_set_timeout($out, 5);
    echo json_encode(fgets($out)), ', ', state($out), "\n";
    stream_set_timeout($out, 0, 1000);
    echo json_encode(fread($out, 10)), ', ', state($out), "\n";
    stream_set_blocking($out, false);
    echo 'non-blocking: ', json_encode(fread($out, 10)), ', ', state($out), "\n";
    stream_set_blocking($out, true);
    fclose($in);
    stream_set_timeout($out, 5);
    echo json_encode(fread($out, 10)), ', ', state($out), "\n";
    echo proc_close($process), "\n";
}
check('before any coroutine');
$turns = 0;
$other = spawn(function () use (&$turns) {
    while (true) {
        $turns++;
        usleep(100);
    }
});
await(spawn(fn() => check('in a coroutine')));
echo $turns > 2 ? "others ran\n" : "others did not run: $turns\n";

$process = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
stream_set_timeout($pipes[1], 5);
$reader = spawn(fn() => fgets($pipes[1]));
suspend();
$reader->cancel();
try {
    await($reader);
} catch (Async\AsyncCancellation) {
    echo "cancelled\n";
}
$file = fopen(__FILE__, 'r');
echo 'files: ', json_encode(stream_set_timeout($file, 1)), ' ', fgets($file);
$other->cancel();
fclose($pipes[0]);
proc_close($process);
?>
--EXPECT--
before any coroutine
true, timed_out false, eof false
false, timed_out true, eof false
false, timed_out true, eof false
"hello\n", timed_out false, eof false
false, timed_out true, eof false
non-blocking: "", timed_out false, eof false
"", timed_out false, eof true
0
in a coroutine
true, timed_out false, eof false
false, timed_out true, eof false
false, timed_out true, eof false
"hello\n", timed_out false, eof false
false, timed_out true, eof false
non-blocking: "", timed_out false, eof false
"", timed_out false, eof true
0
others ran
cancelled
files: false <?php
