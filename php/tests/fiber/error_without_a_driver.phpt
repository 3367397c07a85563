--TEST--
What a fiber fails with after its driver was cancelled comes up at once
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{AsyncCancellation, Scope};
use function Async\{await, delay, spawn, suspend};

function turns(): void
{
    for ($i = 0; $i < 10; ++$i) {
        suspend();
    }
}

function failing(): Fiber
{
    return new Fiber(function () {
        suspend();
        suspend();
        throw new LogicException('of the fiber');
    });
}

echo "its driver is told, if it had not left yet\n";
$fiber = new Fiber(function () use (&$driver) {
    suspend();
    $driver->cancel();
    throw new LogicException('of the fiber');
});
$driver = spawn(function () use ($fiber) {
    try {
        $fiber->start();
    } catch (LogicException $e) {
        echo $e->getMessage(), ', ', get_class($e->getPrevious()), "\n";
    }
});
await($driver);

echo "who awaits it is told\n";
$fiber = failing();
$driver = spawn(fn() => $fiber->start());
suspend();
$driver->cancel();
try {
    await($fiber->getCoroutine());
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}

echo "its scope is told\n";
$scope = new Scope();
$scope->setExceptionHandler(function ($scope, $coroutine, $e) { echo $e->getMessage(), "\n"; });
$fiber = failing();
$driver = $scope->spawn(fn() => $fiber->start());
suspend();
$driver->cancel();
turns();

echo "nobody is there to be told\n";
$fiber = failing();
$driver = spawn(fn() => $fiber->start());
suspend();
$driver->cancel();
try {
    delay(1000);
    echo "never\n";
} finally {
    echo "main unwinds\n";
}
?>
--EXPECTF--
its driver is told, if it had not left yet
of the fiber, Async\AsyncCancellation
who awaits it is told
of the fiber
its scope is told
of the fiber
nobody is there to be told
main unwinds

Fatal error: Uncaught LogicException: of the fiber in %s:%d
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line %d
