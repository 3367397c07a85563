--TEST--
Transparent I/O: a line that waits for the reader of the log does not lose those of others
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

$code = '
    use function Async\spawn;
    foreach (["a", "b", "c"] as $name) {
        spawn(function () use ($name) {
            for ($i = 0; $i < 100; $i++) {
                error_log(str_pad("$name$i ", 900, $name));
                trigger_error("warning of $name$i");
            }
        });
    }
    spawn(fn() => print("begun\n"));
';
$settings = ['-d', 'log_errors=1', '-d', 'display_errors=0', '-d', 'error_log=/dev/stderr'];
$php = [PHP_BINARY, '-n', '-d', 'extension=' . true_async_so(), ...$settings, '-r', $code];
$process = proc_open($php, [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
echo fgets($pipes[1]);  // the pipe is full, all of them log
$text = stream_get_contents($pipes[2]);
echo preg_match_all('~\b([abc])\d+ \1{890,}$~m', $text), ' ', substr_count($text, 'warning of'), "\n";
proc_close($process);
?>
--EXPECT--
begun
300 300
