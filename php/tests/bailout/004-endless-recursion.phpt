--TEST--
Endless recursion in a coroutine hits the memory limit
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip no memory limit without the engine\'s own allocator'); ?>
--INI--
memory_limit=8M
--FILE--
<?php
use function Async\{spawn, suspend, await};

function deeper(int $n) {
    if ($n % 100 == 0) {
        suspend();
    }
    return deeper($n + 1);
}
await(spawn('deeper', 1));
echo "never\n";
?>
--EXPECTF--

Fatal error: Allowed memory size of 8388608 bytes exhausted%s(tried to allocate %d bytes) in %s on line %d
