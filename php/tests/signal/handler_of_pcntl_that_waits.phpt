--TEST--
While a handler of pcntl_signal() waits, no signal is blocked for others
--EXTENSIONS--
true_async
pcntl
posix
--FILE--
<?php
use function Async\{spawn, suspend, await};

function blocked(): string {
    pcntl_sigprocmask(SIG_BLOCK, [], $signals);
    preg_match('/SigBlk:\s*(\w+)/', file_get_contents('/proc/self/status'), $match);
    return count($signals) > 0 && $match[1] !== '0000000000000000' ? 'blocked' : 'free';
}
function handle(int $signal): void {
    echo "begins: ", blocked(), "\n";
    global $is_over;
    for ($is_over = false; !$is_over;) suspend();
    echo "ends: ", blocked(), "\n";
}
pcntl_sigprocmask(SIG_BLOCK, [SIGHUP]);
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, 'handle');
pcntl_signal(SIGUSR2, fn() => print("the next handler\n"));
function run(callable $raise): void {
    $other = spawn(function () {
        suspend();
        pcntl_sigprocmask(SIG_BLOCK, [], $signals);
        echo 'another: ', json_encode($signals), ' ', exec('echo child: $(grep -c "SigBlk:.*0000000000000001" /proc/self/status)'), "\n";
        posix_kill(getmypid(), SIGUSR2);
        suspend();
        echo "another goes on\n";
        $GLOBALS['is_over'] = true;
    });
    $raise();
    await($other);
    suspend();
    pcntl_sigprocmask(SIG_BLOCK, [], $signals);
    echo 'afterwards: ', json_encode($signals), "\n";
}
run(fn() => posix_kill(getmypid(), SIGUSR1));
pcntl_async_signals(false);
run(function () { posix_kill(getmypid(), SIGUSR1); pcntl_signal_dispatch(); });
pcntl_signal_dispatch();
// Ended from outside while it waits.
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () { posix_kill(getmypid(), SIGTERM); Async\delay(5000); echo "never\n"; });
if (pcntl_fork() === 0) {
    posix_kill(getmypid(), SIGUSR1);
    Async\delay(5000);
    exit(0);
}
pcntl_wait($status);
echo pcntl_wifsignaled($status) ? 'ended by ' . pcntl_wtermsig($status) : 'not ended', "\n";
?>
--EXPECT--
begins: blocked
another: [1] child: 1
another goes on
ends: blocked
the next handler
afterwards: [1]
begins: blocked
another: [1] child: 1
another goes on
ends: blocked
afterwards: [1]
the next handler
ended by 15
