--TEST--
Transparent I/O: a line that waits for the reader of the log does not lose those of others
--EXTENSIONS--
posix
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
$fifo = tempnam(sys_get_temp_dir(), 'log');
unlink($fifo);
posix_mkfifo($fifo, 0600);
$log = fopen($fifo, 'r+');
$settings = ['-d', 'log_errors=1', '-d', 'display_errors=0', '-d', "error_log=$fifo"];
$php = [PHP_BINARY, '-n', '-d', 'extension=' . true_async_so(), ...$settings, '-r', $code];
$process = proc_open($php, [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
echo fgets($pipes[1]);  // the fifo is full, all of them log
for ($text = '', $lines = 0; $lines < 600; $lines++) {
    $text .= fgets($log);
}
echo preg_match_all('~\b([abc])\d+ \1{890,}$~m', $text), ' ', substr_count($text, 'warning of'), "\n";
proc_close($process);
unlink($fifo);
?>
--EXPECT--
begun
300 300
