--TEST--
Trace 45: the memory limit is hit in a coroutine; shutdown functions and scope handlers still run
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip no memory limit without the engine\'s own allocator'); ?>
--FILE--
<?php
use Async\Scope; use function Async\{spawn,suspend};
ini_set('memory_limit','2M');
register_shutdown_function(fn() => print("z\n"));
$s = new Scope; $s->finally(fn() => print("g1\n")); $s->finally(fn() => print("g2\n"));
$s->spawn(function() { suspend(); $a = []; while (true) $a[] = str_repeat('x', 10000 + count($a)); });
spawn(function() { suspend(); suspend(); echo "never\n"; });
suspend(); suspend(); suspend(); echo "never\n";
--EXPECTF--
Fatal error: Allowed memory size of 2097152 bytes exhausted%s(tried to allocate %d bytes) in %s on line %d
z
g1
g2
