--TEST--
Transparent I/O: children whose handles go with a cancelled coroutine are collected
--EXTENSIONS--
true_async
--SKIPIF--
<?php
is_readable('/proc/self/task/' . getmypid() . '/children') or die('skip the system does not tell about children');
?>
--FILE--
<?php
use function Async\{spawn, await, suspend};

function children(): array {
    exec('true');  // when a process is started those that have ended are collected
    return preg_split('/ /', file_get_contents('/proc/self/task/' . getmypid() . '/children'), flags: PREG_SPLIT_NO_EMPTY);
}
function cut_off(string $where, callable $function): void {
    $coroutine = spawn($function);
    while (children() === []) {
        suspend();
    }
    $coroutine->cancel();
    try {
        await($coroutine);
        echo "$where: was not cancelled\n";
    } catch (Async\AsyncCancellation) {
        while (children() !== []) {
            usleep(1000);
        }
        echo "$where: collected\n";
    }
}

cut_off('proc_close', fn() => proc_close(proc_open('sleep 0.1', [], $pipes)));
cut_off('a read', function () {
    $process = proc_open('sleep 0.1', [1 => ['pipe', 'w']], $pipes);
    stream_get_contents($pipes[1]);
    proc_close($process);
});
cut_off('pclose', fn() => pclose(popen('sleep 0.1', 'r')));

// Who does not know that it is cancelled can still ask.
$process = proc_open('sleep 0.1; exit 3', [], $pipes);
$waiter = spawn(fn() => proc_close($process));
suspend();
var_dump(await($waiter));
?>
--EXPECT--
proc_close: collected
a read: collected
pclose: collected
int(3)
