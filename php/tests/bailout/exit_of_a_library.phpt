--TEST--
A library that ends the process inside a coroutine, or PHP itself when the system has no memory left, ends it with its exit code
--EXTENSIONS--
true_async
--SKIPIF--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';
if (beside('ffi') === null) die('skip FFI is not here');
?>
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

$php = escapeshellarg(PHP_BINARY) . ' -n -d memory_limit=-1 -d ffi.enable=1 -d extension=' . beside('ffi') . ' -d extension=' . true_async_so() . ' -r ';
foreach ([
    'Async\await(Async\spawn(fn() => str_repeat("x", PHP_INT_MAX >> 8)));',
    'Async\await(Async\spawn(fn() => FFI::cdef("void exit(int);")->exit(7)));',
    'Async\suspend(); (new Fiber(fn() => FFI::cdef("void exit(int);")->exit(8)))->start();',
    'Async\spawn(fn() => Async\delay(1000)); Async\suspend(); FFI::cdef("void exit(int);")->exit(9);',
    // What it calls at the end suspends nobody.
    '$c = FFI::cdef("void exit(int); int on_exit(void (*)(int, void*), void*);");
    $c->on_exit(function () { usleep(1); }, null);
    Async\await(Async\spawn(function () use ($c) {
        Async\spawn(fn() => print("not reached"));
        $c->exit(10);
    }));',
] as $code) {
    exec($php . escapeshellarg($code) . ' 2>&1', $lines, $status);
    echo implode(' ', preg_grep('/mmap/', $lines, PREG_GREP_INVERT)), ' ', $status, "\n";
    $lines = [];
}
?>
--EXPECT--
Out of memory 1
 7
 8
 9
 10
