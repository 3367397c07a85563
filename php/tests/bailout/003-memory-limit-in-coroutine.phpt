--TEST--
The memory limit in a coroutine: nothing else runs, shutdown functions do
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip no memory limit without the engine\'s own allocator'); ?>
--INI--
memory_limit=2M
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () {
    try {
        delay(10000);
    } catch (Throwable) {
        echo "never\n";
    } finally {
        echo "never\n";
    }
});
spawn(function () {
    suspend();
    try {
        $all = [];
        while (true) {
            $all[] = str_repeat('x', 10000 + count($all));
        }
    } finally {
        echo "never\n";
    }
});
try {
    delay(10000);
} catch (Throwable) {
    echo "never\n";
}
echo "never\n";
?>
--EXPECTF--

Fatal error: Allowed memory size of 2097152 bytes exhausted%s(tried to allocate %d bytes) in %s on line %d
shutdown
