--TEST--
Fiber: what it fails with leaves its driver, and is the exception of its coroutine too
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

suspend();
$fiber = new Fiber(function () {
    Fiber::suspend();
    throw new Exception('of the fiber');
});
$fiber->start();
$coroutine = $fiber->getCoroutine();
$early = spawn(function () use ($coroutine) {
    try {
        await($coroutine);
    } catch (Exception $e) {
        return $e;
    }
});
suspend();
try {
    $fiber->resume();
} catch (Exception $e) {
    echo 'driver: ', $e->getMessage(), "\n";
}
echo 'who awaited it before: ', json_encode(await($early) === $e), "\n";
var_dump($coroutine->isCompleted(), $coroutine->isCancelled(), $coroutine->getException() === $e, await_all([$coroutine])[1][0] === $e);
try {
    await($coroutine);
} catch (Exception $again) {
    echo 'who awaits it afterwards: ', json_encode($again === $e), "\n";
}

// Nobody else gets to know of it.
$scope = new Async\Scope();
$scope->setExceptionHandler(fn() => print("not asked\n"));
await($scope->spawn(function () {
    try {
        (new Fiber(fn() => throw new Exception('mine')))->start();
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}));
try {
    (new Fiber(fn() => throw new Async\AsyncCancellation('stop')))->start();
} catch (Async\AsyncCancellation $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
driver: of the fiber
who awaited it before: true
bool(true)
bool(false)
bool(true)
bool(true)
who awaits it afterwards: true
mine
stop
