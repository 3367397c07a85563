--TEST--
signal(): dropping or cancelling the future disarms; nobody's signals keep their default action
--EXTENSIONS--
true_async
posix
pcntl
--FILE--
<?php
use Async\Signal;
use function Async\{signal, delay};

function child(Closure $body): void {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $body();
        delay(2);
        echo "alive\n";
        exit(3);
    }
    pcntl_waitpid($pid, $status);
    echo pcntl_wifsignaled($status) ? 'killed by ' . pcntl_wtermsig($status) : 'exit ' . pcntl_wexitstatus($status), "\n";
}

child(function () {
    posix_kill(getmypid(), SIGTERM);
});
child(function () {
    $GLOBALS['kept'] = signal(Signal::SIGTERM)->ignore();
    posix_kill(getmypid(), SIGTERM);
});
child(function () {
    $future = signal(Signal::SIGTERM)->ignore();
    unset($future);
    posix_kill(getmypid(), SIGTERM);
});
child(function () {
    $GLOBALS['kept'] = $future = signal(Signal::SIGTERM)->ignore();
    $future->cancel();
    posix_kill(getmypid(), SIGTERM);
});
child(function () {
    $GLOBALS['kept'] = signal(Signal::SIGUSR1)->ignore();
    posix_kill(getmypid(), SIGTERM);
});
?>
--EXPECT--
killed by 15
alive
exit 3
killed by 15
killed by 15
killed by 15
