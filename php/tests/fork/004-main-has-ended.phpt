--TEST--
pcntl_fork: refused in a coroutine, also when main has ended
--EXTENSIONS--
true_async
pcntl
--FILE--
<?php
use function Async\spawn;

function attempt(string $where) {
    try {
        if (pcntl_fork() === 0) {
            pcntl_exec("/bin/true");
        }
        echo "$where: forked\n";
    } catch (Error $e) {
        echo "$where: ", get_class($e), "\n";
    }
}

spawn(fn() => attempt('a coroutine'));
register_shutdown_function(function () {
    attempt('a shutdown function');
    spawn(fn() => attempt('a coroutine of a shutdown function'));
});
?>
--EXPECT--
a coroutine: Error
a shutdown function: forked
a coroutine of a shutdown function: Error
