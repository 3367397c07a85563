--TEST--
Transparent I/O: who is cancelled while it prints has printed all; exit() elsewhere ends the script with its code
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

$php = [PHP_BINARY, '-n', '-d', 'extension=' . true_async_so()];
function run_slowly(array $php, string $code): void {
    $code = 'use function Async\{spawn, await, delay}; ' . $code;
    $process = proc_open([...$php, '-r', $code], [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    echo fgets($pipes[2]);  // it prints now, and the pipe is full
    echo fgets($pipes[2]);
    $all = stream_get_contents($pipes[1]);
    echo strlen($all), ' ', substr($all, -5), "\n", stream_get_contents($pipes[2]), proc_close($process), "\n";
}
run_slowly($php, '
    $printing = spawn(function () {
        fwrite(STDERR, "printing\n");
        try { echo str_repeat("x", 300000), "whole"; delay(1); echo "never"; } finally { fwrite(STDERR, "finally\n"); }
    });
    delay(5);
    $printing->cancel();
    fwrite(STDERR, "cancelled\n");
    try { await($printing); } catch (Async\AsyncCancellation) { fwrite(STDERR, "told\n"); }
');
run_slowly($php, '
    spawn(function () { fwrite(STDERR, "printing\n"); delay(5); fwrite(STDERR, "exit\n"); exit(3); });
    echo str_repeat("x", 300000), "whole";
    delay(1000);
    echo "never";
');
?>
--EXPECT--
printing
cancelled
300005 whole
finally
told
0
printing
exit
300005 whole
3
