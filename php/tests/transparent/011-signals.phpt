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
?>
--EXPECT--
in time
string(2) "x
"
