--TEST--
Transparent I/O: semtimedop() and sigwait(): time limits, several operations at once, errors
--EXTENSIONS--
ffi
pcntl
posix
true_async
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{spawn, await, delay, suspend};

suspend();
$c = FFI::cdef('
    struct sembuf { unsigned short number; short change; short flags; };
    struct timespec { long seconds; long nanoseconds; };
    typedef struct { unsigned long bits[16]; } sigset_t;
    int semget(int, int, int);
    int semctl(int, int, int, ...);
    int semtimedop(int, struct sembuf *, size_t, struct timespec *);
    int sigemptyset(sigset_t *);
    int sigaddset(sigset_t *, int);
    int sigwait(sigset_t *, int *);
    int *__errno_location(void);
');
const IPC_NOWAIT = 2048, IPC_RMID = 0, GETVAL = 12;
$set = $c->semget(0, 2, 0600); // private
register_shutdown_function(fn() => @$c->semctl($set, 0, IPC_RMID));

$change = function (array $operations, ?float $limit = null) use ($c, $set) {
    $all = $c->new('struct sembuf[' . count($operations) . ']');
    foreach ($operations as $i => $one) {
        [$all[$i]->number, $all[$i]->change, $all[$i]->flags] = $one;
    }
    $time = $c->new('struct timespec');
    $time->nanoseconds = (int) ($limit * 1e9);
    $begin = hrtime(true);
    $result = $c->semtimedop($set, $all, count($operations), $limit !== null ? FFI::addr($time) : null);
    $error = $result < 0 ? posix_strerror($c->__errno_location()[0]) : '';
    return [$result, $error, (hrtime(true) - $begin) / 1e6];
};
$tell = function (array $outcome, int $least = 0, int $most = 1000) {
    [$result, $error, $took] = $outcome;
    echo trim("$result $error"), $took >= $least && $took < $least + $most ? '' : " after $took ms", "\n";
};

await(spawn(function () use ($change, $tell) {
    $tell($change([[0, -1, 0]], 0.05), 50);
    $tell($change([[0, -1, 0]], 0.0));
    $tell($change([[0, -1, 0]], 1.5)); // no such time
    $tell($change([[0, -1, IPC_NOWAIT]]));
    $tell($change([[9, -1, 0]]));
}));

// All or nothing.
$waiter = spawn(fn() => $change([[0, -1, 0], [1, -1, 0]], 0.9));
delay(10);
$change([[0, 1, 0]]);
delay(50);
echo $c->semctl($set, 0, GETVAL), ' ', json_encode($waiter->isCompleted()), "\n";
$change([[1, 1, 0]]);
$tell(await($waiter));
echo $c->semctl($set, 0, GETVAL), $c->semctl($set, 1, GETVAL), "\n";

$waiter = spawn(fn() => $change([[0, -1, 0]]));
delay(10);
$c->semctl($set, 0, IPC_RMID);
$tell(await($waiter));

pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1]);
$signals = $c->new('sigset_t');
$c->sigemptyset(FFI::addr($signals));
$c->sigaddset(FFI::addr($signals), SIGUSR1);
$number = $c->new('int');
$waiter = spawn(fn() => $c->sigwait(FFI::addr($signals), FFI::addr($number)));
delay(10);
posix_kill(getmypid(), SIGUSR1);
echo await($waiter), ' ', json_encode($number->cdata === SIGUSR1), "\n";
?>
--EXPECT--
-1 Resource temporarily unavailable
-1 Resource temporarily unavailable
-1 Invalid argument
-1 Resource temporarily unavailable
-1 File too large
1 false
0
00
-1 Identifier removed
0 true
