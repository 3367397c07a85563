--TEST--
Transparent I/O: a handler of pcntl_signal() runs while everybody is in a blocking function
--EXTENSIONS--
true_async
pcntl
posix
--FILE--
<?php
use function Async\{spawn, await};

pcntl_async_signals(true);
$begin = hrtime(true);
pcntl_signal(SIGUSR1, function () use (&$at) { $at = hrtime(true); });
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$reader = spawn(fn() => fgets($a));
$sleeper = spawn(fn() => usleep(600_000));
exec('kill -USR1 ' . getmypid() . ' >/dev/null');
await($sleeper);
echo $at !== null && $at - $begin < 500_000_000 ? "in time\n" : "late\n";
fwrite($b, "x\n");
var_dump(await($reader));

// One that throws does so where it was set: that is how time limits are made.
function signal_later(): void { exec('(sleep 0.05; kill -USR1 ' . getmypid() . ') >/dev/null 2>&1 &'); }
$limited = function () {
    pcntl_signal(SIGUSR1, fn() => throw new RuntimeException('too late'));
    signal_later();
    try {
        sleep(10);
        echo "never\n";
    } catch (RuntimeException $exception) {
        usleep(100);
        echo $exception->getMessage(), "\n";
    }
};
await(spawn($limited));
$limited();
$ended = spawn(function () { pcntl_signal(SIGUSR1, fn() => throw new RuntimeException('to main')); });
await($ended);
signal_later();
try {
    await(spawn(fn() => Async\delay(10_000)));
} catch (RuntimeException $exception) {
    echo $exception->getMessage(), "\n";
}
exit;
?>
--EXPECT--
in time
string(2) "x
"
too late
too late
to main
