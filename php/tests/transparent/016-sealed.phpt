--TEST--
Transparent I/O: where PHP's calls cannot be replaced a notice says so, and they block
--EXTENSIONS--
true_async
ffi
--INI--
ffi.enable=1
--SKIPIF--
<?php
if (FFI::cdef('long syscall(long number, ...);')->syscall(462, 0, 0, 0) !== 0) {
    die('skip the system cannot seal memory');
}
?>
--FILE--
<?php
$kernel = FFI::cdef('long syscall(long number, ...);');
foreach (file('/proc/self/maps') as $line) {
    [$range, $mode] = explode(' ', $line);
    if ($mode === 'r--p' && trim(strrchr($line, ' ')) === realpath(PHP_BINARY)) {
        [$begin, $end] = array_map(hexdec(...), explode('-', $range));
        $kernel->syscall(462, $begin, $end - $begin, 0) === 0 || print("not sealed: $line");  // mseal
    }
}
$n = 0;
$other = Async\spawn(function () use (&$n) { $n++; });
usleep(1000);
echo $n ? "suspends\n" : "blocks\n";
Async\delay(1);
echo $n ? "others run\n" : "others do not run\n";

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
fwrite($b, "hello\n");
echo fgets($a), exec('echo well'), "\n", gethostbyname('127.0.0.1'), "\n";
stream_set_timeout($a, 0, 1000);
var_dump(fgets($a), stream_get_meta_data($a)['timed_out']);
?>
--EXPECTF--
Notice: Transparent I/O is off, blocking functions hold up all coroutines: the calls of this PHP cannot be replaced (another system, the extension linked into PHP, or sealed memory) in %s on line %d
blocks
others run
hello
well
127.0.0.1
bool(false)
bool(true)
