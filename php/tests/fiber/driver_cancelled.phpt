--TEST--
After start(), resume() or throw() was cancelled the fiber can be driven on, and its values come to whom they are for
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\AsyncCancellation;
use function Async\{await, spawn, suspend};

function turns(): void
{
    for ($i = 0; $i < 10; ++$i) {
        suspend();
    }
}

function cancelled(callable $drive): void
{
    $driver = spawn(function () use ($drive) {
        try {
            $drive();
        } catch (AsyncCancellation) {
            echo "cancelled\n";
        }
    });
    suspend();
    $driver->cancel();
    suspend();
    suspend();
}

$fiber = new Fiber(function ($x) {
    for (;;) {
        try {
            suspend();
            $x = Fiber::suspend("got $x");
        } catch (LogicException $e) {
            $x = $e->getMessage();
        }
    }
});
cancelled(fn() => $fiber->start('start'));
var_dump($fiber->isSuspended());
var_dump($fiber->resume('A'));
cancelled(fn() => $fiber->resume('B'));
var_dump($fiber->resume('C'));
cancelled(fn() => $fiber->throw(new LogicException('D')));
var_dump($fiber->throw(new LogicException('E')));

echo "\nwith a cancellation pending nothing is resumed\n";
$driver = spawn(function () use ($fiber, &$driver) {
    $driver->cancel();
    try {
        $fiber->resume('F');
    } catch (AsyncCancellation) {
        echo "cancelled\n";
    }
    var_dump($fiber->resume('G'));
});
await($driver);

echo "\ncancelled and resumed in one turn\n";
$fiber = new Fiber(function () {
    try {
        Fiber::suspend();
    } catch (AsyncCancellation) {
        var_dump(Fiber::suspend('in catch'));
    }
    return 'returned';
});
$fiber->start();
$fiber->getCoroutine()->cancel();
var_dump($fiber->resume('lost'));
$fiber->resume('found');
var_dump($fiber->getReturn());

echo "\ncancelled while it runs\n";
$fiber = new Fiber(function () {
    Fiber::getCurrent()->getCoroutine()->cancel();
    try {
        Fiber::suspend('not told');
    } catch (AsyncCancellation) {
        Fiber::suspend('told');
    }
});
var_dump($fiber->start());

echo "\nlet go by a cancelled driver\n";
$fiber = new Fiber(function () {
    try {
        suspend();
        suspend();
        suspend();
        Fiber::suspend();
        echo "never\n";
    } finally {
        echo "closed\n";
    }
});
$driver = spawn(fn($fiber) => $fiber->start(), $fiber);
unset($fiber);
suspend();
$driver->cancel();
turns();
$fiber = new Fiber(function () {
    try {
        echo Fiber::suspend(), "\n";
        Fiber::suspend();
        echo "never\n";
    } finally {
        echo "closed\n";
    }
});
$fiber->start();
$driver = spawn(fn($fiber) => $fiber->resume('resumed'), $fiber);
unset($fiber);
spawn(fn() => $driver->cancel());
turns();
echo "end\n";
?>
--EXPECT--
cancelled
bool(true)
string(5) "got A"
cancelled
string(5) "got C"
cancelled
string(5) "got E"

with a cancellation pending nothing is resumed
cancelled
string(5) "got G"

cancelled and resumed in one turn
string(8) "in catch"
string(5) "found"
string(8) "returned"

cancelled while it runs
string(4) "told"

let go by a cancelled driver
closed
resumed
closed
end
