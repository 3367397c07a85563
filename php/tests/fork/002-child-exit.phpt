--TEST--
Only main alive: the child has a loop of its own and its exit code is what the parent reads
--EXTENSIONS--
true_async
pcntl
--FILE--
<?php
use function Async\{spawn, suspend, await, delay};

await(spawn(function () { delay(1); }));
$pid = pcntl_fork();
if ($pid === 0) {
    echo await(spawn(function () { delay(2); return "child runs coroutines\n"; }));
    exit(7);
}
pcntl_waitpid($pid, $status);
var_dump(pcntl_wexitstatus($status));
echo await(spawn(function () { delay(2); return "parent too\n"; }));
$c = spawn(fn() => delay(10));
try {
    pcntl_fork();
} catch (Error $e) {
    echo $e::class, ': ', $e->getMessage(), "\n";
}
?>
--EXPECT--
child runs coroutines
int(7)
parent too
Error: Cannot fork() while coroutines other than the main one are running. fork() is only allowed when just the main coroutine is active.
