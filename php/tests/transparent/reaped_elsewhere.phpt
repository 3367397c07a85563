--TEST--
Transparent I/O: proc_close() of a child that the program itself has asked for
--EXTENSIONS--
true_async
pcntl
--FILE--
<?php
use function Async\{spawn, await};

function reap(callable $wait): void {
    $process = proc_open('read line; exit 3', [['pipe', 'r']], $pipes);
    $pid = proc_get_status($process)['pid'];
    fclose($pipes[0]);
    echo json_encode($wait($pid) === $pid), ' ', proc_close($process), "\n";
}
await(spawn('reap', fn($pid) => pcntl_waitpid($pid, $status)));
await(spawn('reap', fn($pid) => pcntl_wait($status)));
reap(fn($pid) => pcntl_waitpid(-1, $status));
// Who has seen it ending here knows the code.
await(spawn('reap', function ($pid) {
    usleep(1000);
    return $pid;
}));
$process = proc_open('exit 5', [], $pipes);
while (proc_get_status($process)['running']) usleep(1000);
echo proc_close($process), "\n";
?>
--EXPECT--
true -1
true -1
true -1
true 3
5
