--TEST--
The whole API of Fiber once the scheduler runs: values, exceptions, states, getReturn
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

suspend();
function attempt(Closure $action): void {
    try { var_dump($action()); } catch (Throwable $e) { echo $e::class, ': ', $e->getMessage(), "\n"; }
}
$f = new Fiber(function (int $a, int ...$rest) {
    $got = Fiber::suspend($a + array_sum($rest));
    try {
        Fiber::suspend($got . '!');
    } catch (LogicException $e) {
        return 'caught ' . $e->getMessage();
    }
});
attempt(fn() => $f->isStarted());
attempt(fn() => $f->resume());
attempt(fn() => $f->getReturn());
attempt(fn() => $f->getCoroutine());
attempt(fn() => $f->start(1, 2, 3));
attempt(fn() => $f->start());
attempt(fn() => [$f->isStarted(), $f->isSuspended(), $f->isRunning(), $f->isTerminated()] === [true, true, false, false]);
attempt(fn() => $f->resume('value'));
attempt(fn() => $f->getReturn());
attempt(fn() => $f->throw(new LogicException('thrown in')));
attempt(fn() => $f->getReturn());
attempt(fn() => $f->isTerminated());
attempt(fn() => $f->resume());
attempt(fn() => $f->getCoroutine()->isCompleted());
attempt(fn() => Fiber::suspend());
attempt(fn() => Fiber::getCurrent());
$f = new Fiber(function () use (&$f) { var_dump(Fiber::getCurrent() === $f, $f->isRunning()); throw new DomainException('of the fiber'); });
attempt(fn() => $f->start());
attempt(fn() => $f->getReturn());
attempt(fn() => new Fiber());
$f = new Fiber(function () { return await(spawn(function () { suspend(); return 'awaited in a fiber'; })); });
attempt(fn() => $f->start());
attempt(fn() => $f->getReturn());
?>
--EXPECT--
bool(false)
FiberError: Cannot resume a fiber that is not suspended
FiberError: Cannot get fiber return value: The fiber has not been started
NULL
int(6)
FiberError: Cannot start a fiber that has already been started
bool(true)
string(6) "value!"
FiberError: Cannot get fiber return value: The fiber has not returned
NULL
string(16) "caught thrown in"
bool(true)
FiberError: Cannot resume a fiber that is not suspended
bool(true)
FiberError: Cannot suspend outside of a fiber
NULL
bool(true)
bool(true)
DomainException: of the fiber
FiberError: Cannot get fiber return value: The fiber threw an exception
ArgumentCountError: Fiber::__construct() expects exactly 1 argument, 0 given
NULL
string(18) "awaited in a fiber"
