--TEST--
The common buffer is filled on while a coroutine waits for the reader of what was in it
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

function lines(string $code, int $expected): void {
    $lines = 'use function Async\spawn;
        function lines($name, $between = null) {
            return spawn(function () use ($name, $between) {
                for ($i = 0; $i < 2000; $i++) {
                    echo str_pad("$name$i", 99, $name) . "\n";
                    if ($between !== null && $i % 5 === 0) {
                        $between($i);
                    }
                }
            });
        }
        ';
    $php = [PHP_BINARY, '-n', '-d', 'extension=' . true_async_so(), '-d', 'output_buffering=4096', '-r', $lines . $code];
    $process = proc_open($php, [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    echo fgets($pipes[2]);  // the pipe is full
    $seen = [];
    $others = 0;
    foreach (explode("\n", rtrim(stream_get_contents($pipes[1]))) as $line) {
        if (strlen($line) === 99 && preg_match('~^([abc])(\d+)\1+$~', $line, $found)) {
            $seen["$found[1]$found[2]"] = true;
        } else {
            $others++;
        }
    }
    echo count($seen) === $expected ? "all" : count($seen), " lines, $others others, ", stream_get_contents($pipes[2]), proc_close($process), "\n";
}
$tell = 'spawn(fn() => fwrite(STDERR, "begun\n"));';

lines('lines("a"); lines("b"); ' . $tell, 4000);
lines('lines("a", fn() => ob_flush()); lines("b"); lines("c", fn() => flush()); ' . $tell, 6000);
// Another ends it while one is in the middle of flushing it.
lines('lines("a", fn() => ob_get_level() && ob_flush()); lines("b"); spawn(fn() => ob_end_flush()); lines("c", function () { ob_start(); echo "own\n"; ob_end_clean(); }); '. $tell, 6000);
lines('lines("a"); lines("b", function () { while (ob_get_level()) ob_end_flush(); }); '. $tell, 4000);
?>
--EXPECT--
begun
all lines, 0 others, 0
begun
all lines, 0 others, 0
begun
all lines, 0 others, 0
begun
all lines, 0 others, 0
