--TEST--
Transparent I/O: semaphores, message queues and signals that are waited for suspend only the coroutine
--EXTENSIONS--
pcntl
posix
sysvmsg
sysvsem
true_async
--FILE--
<?php
use function Async\{spawn, await, delay};

/** What `$wait` returns, and whether others ran meanwhile. */
function meanwhile(callable $wait, callable $end) {
    $ticks = 0;
    $ticker = spawn(function () use (&$ticks) {
        for (;;) {
            delay(5);
            ++$ticks;
        }
    });
    $waiter = spawn($wait);
    delay(50);
    echo $waiter->isCompleted() ? "has not waited\n" : '';
    $end();
    $result = await($waiter);
    $ticker->cancel();
    echo $ticks > 3 ? 'others ran' : 'all blocked', ', ', json_encode($result), "\n";
}

$semaphore = sem_get(ftok(__FILE__, 's'));
$queue = msg_get_queue(ftok(__FILE__, 'q'));
register_shutdown_function(function () use ($semaphore, $queue) {
    @sem_remove($semaphore);
    @msg_remove_queue($queue);
});

echo "sem_acquire\n";
sem_acquire($semaphore);
meanwhile(fn() => sem_acquire($semaphore), fn() => sem_release($semaphore));
await(spawn(fn() => print(json_encode(sem_acquire($semaphore, true)) . "\n")));

echo "msg_receive\n";
$receive = function () use ($queue) {
    msg_receive($queue, 2, $type, 100, $message);
    return [$type, $message];
};
meanwhile($receive, function () use ($queue) {
    msg_send($queue, 1, 'another type');
    msg_send($queue, 2, 'message');
});
await(spawn(function () use ($queue) {
    msg_receive($queue, 0, $type, 100, $message, true, MSG_IPC_NOWAIT);
    echo json_encode($message), ' ', json_encode(msg_receive($queue, 0, $type, 100, $message, true, MSG_IPC_NOWAIT, $error)),
        ' ', $error === MSG_ENOMSG ? 'ENOMSG' : $error, "\n";
}));

echo "msg_send\n";
$text = str_repeat('x', 4000);
while (@msg_send($queue, 1, $text, false, false));
meanwhile(fn() => msg_send($queue, 3, $text, false), function () use ($queue) {
    while (msg_receive($queue, 1, $type, 5000, $message, false, MSG_IPC_NOWAIT));
});

echo "cancelled\n";
foreach ([fn() => sem_acquire($semaphore), fn() => msg_receive($queue, 7, $type, 100, $message)] as $wait) {
    $waiter = spawn($wait);
    delay(10);
    $waiter->cancel();
    try {
        await($waiter);
    } catch (Async\AsyncCancellation $e) {
        echo get_class($e), "\n";
    }
}

echo "removed\n";
meanwhile(fn() => [msg_receive($queue, 7, $type, 100, $message, true, 0, $error), posix_strerror($error)], fn() => msg_remove_queue($queue));

echo "signals\n";
pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1]);
meanwhile(fn() => pcntl_sigwaitinfo([SIGUSR1]) === SIGUSR1, fn() => posix_kill(getmypid(), SIGUSR1));
meanwhile(fn() => pcntl_sigtimedwait([SIGUSR1], $info, 5) === SIGUSR1 && $info['pid'] === getmypid(), fn() => posix_kill(getmypid(), SIGUSR1));
$begin = hrtime(true);
meanwhile(fn() => pcntl_sigtimedwait([SIGUSR1], $info, 0, 100_000_000), fn() => null);
echo ($took = (hrtime(true) - $begin) / 1e6) >= 100 && $took < 1000 ? 'in time' : $took, "\n";
?>
--EXPECT--
sem_acquire
others ran, true
false
msg_receive
others ran, [2,"message"]
"another type" false ENOMSG
msg_send
others ran, true
cancelled
Async\AsyncCancellation
Async\AsyncCancellation
removed
others ran, [false,"Identifier removed"]
signals
others ran, true
others ran, true
others ran, -1
in time
