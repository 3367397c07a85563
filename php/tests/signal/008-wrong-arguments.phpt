--TEST--
signal(): wrong arguments and what cannot be caught
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Signal;
use function Async\signal;

foreach ([
    fn() => signal(),
    fn() => signal(10),
    fn() => signal(Signal::SIGUSR1, 'x'),
    fn() => signal(Signal::SIGUSR1, null, 1),
    fn() => signal(Signal::SIGKILL),
    fn() => signal(Signal::SIGSEGV),
] as $wrong) {
    try {
        $wrong();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
foreach (Signal::cases() as $case) {
    echo "$case->name=$case->value ";
}
echo "\n";
?>
--EXPECT--
ArgumentCountError: Async\signal() expects at least 1 argument, 0 given
TypeError: Async\signal(): Argument #1 ($signal) must be of type Async\Signal, int given
TypeError: Async\signal(): Argument #2 ($cancellation) must be of type ?Async\Completable, string given
ArgumentCountError: Async\signal() expects at most 2 arguments, 3 given
Async\AsyncException: wait for SIGKILL, but no program can catch it: EINVAL (invalid argument)
Async\AsyncException: wait for SIGSEGV, but it means a fault in the program, which cannot go on: EINVAL (invalid argument)
SIGHUP=1 SIGINT=2 SIGQUIT=3 SIGILL=4 SIGABRT=6 SIGFPE=8 SIGKILL=9 SIGUSR1=10 SIGSEGV=11 SIGUSR2=12 SIGTERM=15 SIGBREAK=21 SIGABRT2=22 SIGWINCH=28 
