--TEST--
pcntl_fork: allowed with main alone, refused beside other coroutines
--EXTENSIONS--
true_async
pcntl
--FILE--
<?php
use function Async\{spawn, suspend, await, delay};

await(spawn(fn () => print("before\n")));
$pid = pcntl_fork();
if ($pid === 0) {
    await(spawn(function () { delay(1); }));
    exit(7);
}
pcntl_waitpid($pid, $status);
var_dump(pcntl_wexitstatus($status));

$other = spawn(function () { suspend(); });
try {
    pcntl_fork();
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
await($other);
?>
--EXPECT--
before
int(7)
Cannot fork() while coroutines other than the main one are running. fork() is only allowed when just the main coroutine is active.
