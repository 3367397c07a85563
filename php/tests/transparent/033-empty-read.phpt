--TEST--
Transparent I/O: a read of nothing from a socket does not wait
--EXTENSIONS--
ffi
true_async
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{spawn, await, suspend};

suspend();
$c = FFI::cdef('
    struct part { void *data; size_t size; };
    int socketpair(int, int, int, int *);
    ssize_t read(int, void *, size_t);
    ssize_t readv(int, struct part *, int);
');
$ends = $c->new('int[2]');
$c->socketpair(1, 1, 0, $ends);
$parts = $c->new('struct part[2]');
$buffer = $c->new('char[1]');
await(spawn(function () use ($c, $ends, $parts, $buffer) {
    echo $c->read($ends[0], $buffer, 0), ' ', $c->readv($ends[0], $parts, 2), "\n";
}));
?>
--EXPECT--
0 0
