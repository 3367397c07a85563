--TEST--
The state table of a coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await};

function state(Async\Coroutine $c): string {
    $names = [];
    foreach (['isStarted', 'isQueued', 'isSuspended', 'isRunning', 'isCompleted', 'isCancelled', 'isCancellationRequested'] as $is) {
        if ($c->$is()) {
            $names[] = lcfirst(substr($is, 2));
        }
    }
    return implode(' ', $names);
}
$c = spawn(function () use (&$c) {
    echo "executing: ", state($c), "\n";
    suspend();
    delay(5);
    return 1;
});
echo "after spawn: ", state($c), "\n";
suspend();
echo "in suspend(): ", state($c), "\n";
suspend();
echo "waiting: ", state($c), "\n";
await($c);
echo "finished: ", state($c), "\n";

$never = spawn(fn() => print("never\n"));
$never->cancel();
echo "cancel requested: ", state($never), "\n";
suspend();
echo "cancelled before the start: ", state($never), "\n";

$failed = spawn(function () { throw new Exception('x'); });
try { await($failed); } catch (Exception) {}
echo "failed: ", state($failed), "\n";
?>
--EXPECT--
after spawn: queued suspended
executing: started running
in suspend(): started queued suspended
waiting: started suspended
finished: started completed
cancel requested: queued suspended cancellationRequested
cancelled before the start: completed cancelled cancellationRequested
failed: started completed
