--TEST--
Transparent I/O: a process that somebody closes can be looked at and ended until it has ended
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend, timeout};

// By another coroutine.
$process = proc_open('exec sleep 9', [], $pipes);
$closing = spawn(fn() => proc_close($process));
suspend();
suspend();
var_dump(proc_get_status($process)['running'], proc_terminate($process), await($closing));
try {
    proc_terminate($process);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}

// After a time limit.
$process = proc_open('exec sleep 9', [], $pipes);
$closing = spawn(fn() => proc_close($process));
try {
    await($closing, timeout(10));
} catch (Async\OperationCanceledException) {
    var_dump(proc_terminate($process, 9), await($closing));
}

// Who was cancelled has not closed it.
$process = proc_open('exec sleep 9', [1 => ['pipe', 'w']], $pipes);
$closing = spawn(fn() => proc_close($process));
suspend();
suspend();
$closing->cancel();
try {
    await($closing);
} catch (Async\AsyncCancellation) {
    var_dump(proc_get_status($process)['running'], proc_terminate($process), proc_close($process));
}

// Somebody else has seen it ending meanwhile.
$process = proc_open('exec sleep 9', [], $pipes);
$closing = spawn(fn() => proc_close($process));
suspend();
suspend();
proc_terminate($process);
while (($status = proc_get_status($process))['running']);
var_dump($status['termsig'], await($closing));

// Two at once: the first closes it.
$process = proc_open('exec sleep 9', [], $pipes);
$all = [spawn(fn() => proc_close($process)), spawn(fn() => proc_close($process))];
suspend();
suspend();
proc_terminate($process);
foreach ($all as $one) {
    try {
        var_dump(await($one));
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
bool(true)
bool(true)
int(-15)
proc_terminate(): supplied resource is not a valid process resource
bool(true)
int(-9)
bool(true)
bool(true)
int(-15)
int(15)
int(-15)
int(-15)
proc_close(): another coroutine closes this process
