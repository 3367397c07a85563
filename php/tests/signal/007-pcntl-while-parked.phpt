--TEST--
A pcntl handler set while the loop runs is called while everybody is parked, and keeps nothing alive
--EXTENSIONS--
true_async
posix
pcntl
--FILE--
<?php
use function Async\{delay, spawn, await, suspend};

pcntl_async_signals(true);
suspend();  // the scheduler runs
$began = hrtime(true);
pcntl_signal(SIGALRM, function (int $number, array $info) use ($began) {
    echo "signal $number $info[signo], in time: ", var_export(hrtime(true) - $began < 2.5e9, true), "\n";
    delay(1);  // it may suspend
    echo "handled\n";
});
pcntl_alarm(1);
$child = spawn(function () { delay(4000); });
spawn(function () use ($child) {
    delay(1200);
    echo "later\n";
    $child->cancel();
});
try {
    await($child);
} catch (Async\AsyncCancellation) {
    echo "end\n";
}
pcntl_signal(SIGALRM, SIG_DFL);
pcntl_signal(SIGUSR1, function () {});
?>
--EXPECT--
signal 14 14, in time: true
handled
later
end
