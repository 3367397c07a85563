--TEST--
signal() together with pcntl_signal(), in either order: one delivery reaches both
--EXTENSIONS--
true_async
posix
pcntl
--FILE--
<?php
use Async\Signal;
use function Async\{signal, spawn, await};

$handler = function (int $number, array $info) {
    echo "pcntl $number, info $info[signo] from ", $info['pid'] === getmypid() ? 'myself' : 'another', "\n";
};
function send(int $number): void {
    spawn(function () use ($number) { posix_kill(getmypid(), $number); });
}

echo "pcntl first\n";
pcntl_signal(SIGUSR1, $handler);
$future = signal(Signal::SIGUSR1);
send(SIGUSR1);
echo await($future)->name, "\n";
echo "dispatch\n";
pcntl_signal_dispatch();

echo "pcntl last\n";
$future = signal(Signal::SIGUSR2);
pcntl_signal(SIGUSR2, $handler);
send(SIGUSR2);
echo await($future)->name, "\n";
pcntl_signal_dispatch();

echo "afterwards pcntl alone\n";
posix_kill(getmypid(), SIGUSR1);
posix_kill(getmypid(), SIGUSR2);
pcntl_signal_dispatch();

echo "ignored by pcntl\n";
$future = signal(Signal::SIGUSR1);
pcntl_signal(SIGUSR1, SIG_IGN);
send(SIGUSR1);
echo await($future)->name, "\n";
pcntl_signal_dispatch();
posix_kill(getmypid(), SIGUSR1);

echo "default\n";
$future = signal(Signal::SIGUSR2);
pcntl_signal(SIGUSR2, SIG_DFL);
send(SIGUSR2);
echo await($future)->name, "\n";
pcntl_signal_dispatch();
?>
--EXPECT--
pcntl first
SIGUSR1
dispatch
pcntl 10, info 10 from myself
pcntl last
SIGUSR2
pcntl 12, info 12 from myself
afterwards pcntl alone
pcntl 10, info 10 from myself
pcntl 12, info 12 from myself
ignored by pcntl
SIGUSR1
default
SIGUSR2
