--TEST--
Fatal errors: when the memory limit is hit in a handler or a callback, nobody else is called but handlers of scopes, behind the shutdown functions
--EXTENSIONS--
true_async
--INI--
memory_limit=16M
--FILE--
<?php
use Async\{Pool, Scope, TaskGroup};
use function Async\{spawn, delay};

register_shutdown_function(fn() => print("shutdown function\n"));

$waits = new Scope();
$waits->finally(function () {
    delay(1000);
    echo "not reached\n";
});
$waits->finally(fn(Scope $s) => print('second of the scope, which is ' . ($s === $GLOBALS['waits'] ? 'told' : 'lost') . "\n"));
$waits->finally(fn() => print("third of the scope\n"));
$waits->dispose();

$coroutine = spawn(fn() => 1);
$coroutine->finally(fn() => delay(1000));
$coroutine->finally(fn() => print("not reached\n"));

$group = new TaskGroup();
$group->spawn(fn() => 1);
$group->finally(fn() => delay(1000));
$group->finally(fn() => print("not reached\n"));
$group->close();

$pool = new Pool(fn() => new stdClass(), function () {
    echo "destructor of the pool\n";
    delay(1000);
}, min: 2, max: 2);
spawn(fn() => $pool->close());

$last = spawn(fn() => delay(5));
$last->finally(fn() => str_repeat('x', 100 << 20));
$last->finally(fn() => print("not reached\n"));
delay(10_000);
echo "not reached\n";
?>
--EXPECTF--
destructor of the pool

Fatal error: Allowed memory size of 16777216 bytes exhausted%s(tried to allocate %d bytes) in %s on line %d
shutdown function
second of the scope, which is told
third of the scope
