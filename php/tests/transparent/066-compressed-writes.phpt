--TEST--
Transparent I/O: writes of several coroutines through one compressing stream arrive whole, in order
--EXTENSIONS--
true_async
zlib
posix
--FILE--
<?php
use function Async\{spawn, await};

$name = sys_get_temp_dir() . '/true_async_fifo_' . getmypid();
posix_mkfifo($name, 0600);
$reader = fopen($name, 'r+');
stream_set_blocking($reader, false);
$writer = gzopen($name, 'w1');
$first = random_bytes(200_000);  // cannot be made smaller: more than the fifo has room for
$second = random_bytes(200_000);
$one = spawn(function () use ($writer, $first) { gzwrite($writer, $first); gzwrite($writer, 'AAAA'); });
$other = spawn(function () use ($writer, $second) { gzwrite($writer, $second); gzwrite($writer, 'BBBB'); });
$closing = spawn(function () use ($one, $other, $writer) { await($one); await($other); gzclose($writer); });
$all = '';
do {
    $is_last = $closing->isCompleted();
    while (($part = fread($reader, 65536)) !== '' && $part !== false) {
        $all .= $part;
    }
    Async\suspend();
} while (!$is_last);
unlink($name);
$text = gzdecode($all);
var_dump(strlen($text), str_contains($text, $first), str_contains($text, $second));
?>
--EXPECT--
int(400008)
bool(true)
bool(true)
