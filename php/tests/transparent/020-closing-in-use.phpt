--TEST--
Transparent I/O: who closes a stream lets the others leave first: locks, threads, error handlers, wrappers
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend, delay};

// A lock is tried again and again: not on another file that has got the number.
[$one, $two] = [tempnam(sys_get_temp_dir(), 'lock'), tempnam(sys_get_temp_dir(), 'lock')];
$holder = fopen($one, 'c');
flock($holder, LOCK_EX);
$waiting = fopen($one, 'c');
$locking = spawn(fn() => @flock($waiting, LOCK_EX));
delay(5);
fclose($waiting);
$other = fopen($two, 'c');
echo 'flock: ', json_encode(await($locking)), ', the other file is free: ', json_encode(flock(fopen($two, 'c'), LOCK_EX | LOCK_NB)), "\n";

// A file that is not in the page cache is read by a thread.
file_put_contents($one, str_repeat('A', 4 << 20));
shell_exec('sync ' . escapeshellarg($one) . '; dd if=' . escapeshellarg($one) . ' iflag=nocache count=0 2>/dev/null');
$file = fopen($one, 'r');
$reading = spawn(fn() => @fread($file, 1 << 20));
suspend();
fclose($file);
$got = await($reading);
echo 'file: ', $got === false || trim($got, 'A') === '' ? 'its own bytes or nothing' : 'others', "\n";

// An error handler that waits is still inside the write.
set_error_handler(function () { delay(10); return true; });
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$writing = spawn(function () use ($a) {
    $written = fwrite($a, str_repeat('x', 4 << 20));
    echo "writer has left\n";
    return $written;
});
suspend();
fclose($a);
echo "closed\n";
await($writing);
restore_error_handler();

// Code of PHP inside a stream.
class Slow {
    public $context;
    private string $text = '';
    public function stream_open() { $this->text = str_repeat('x', 1000); return true; }
    public function stream_read($count) { delay(10); return substr($this->text, 0, 100); }
    public function stream_write($data) { delay(10); return strlen($data) + strlen($this->text) - 1000; }
    public function stream_eof() { return false; }
    public function stream_close() { echo "wrapper closes\n"; }
    public function stream_stat() { return []; }
}
stream_wrapper_register('slow', 'Slow');
foreach (['fread' => 10, 'fwrite' => 'abc'] as $function => $argument) {
    $stream = fopen('slow://', 'r+');
    $inside = spawn(fn() => $function($stream, $argument));
    suspend();
    fclose($stream);
    echo "$function: ", json_encode(await($inside)), "\n";
    unset($stream);
}
unlink($one);
unlink($two);
?>
--EXPECT--
flock: false, the other file is free: true
file: its own bytes or nothing
writer has left
closed
wrapper closes
fread: "xxxxxxxxxx"
wrapper closes
fwrite: 3
