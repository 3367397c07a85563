--TEST--
A fiber that is cancelled before it begins does not leave its caller waiting
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{AsyncCancellation, Scope};
use function Async\{await, delay, spawn, suspend};

// A sibling fails first. The main scope spares who has begun, and the call has.
$sibling = spawn(fn() => throw new Exception('sibling'));
$fiber = new Fiber(function () {
    echo "begins\n";
    suspend();
    $x = Fiber::suspend(1);
    delay(1);
    return $x;
});
var_dump($fiber->start());
$fiber->resume('resumed');
var_dump($fiber->getReturn());
try {
    await($sibling);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}

// A safe scope is left before it begins.
$scope = Scope::inherit();
$caller = $scope->spawn(function () {
    $fiber = new Fiber(function () {
        suspend();
        return 5;
    });
    $fiber->start();
    return $fiber->getReturn();
});
$scope->spawn($scope->disposeSafely(...));
var_dump(await($caller));

// It alone is cancelled: its caller is told, and its code does not run.
$fiber = new Fiber(fn() => print "never\n");
$caller = spawn(function () use ($fiber) {
    try {
        $fiber->start();
    } catch (AsyncCancellation $e) {
        echo $e->getMessage(), "\n";
    }
    var_dump($fiber->isTerminated());
});
spawn(fn() => $fiber->getCoroutine()->cancel(new AsyncCancellation('not now')));
await($caller);
var_dump($fiber->getCoroutine()->isCancelled());

// All are cancelled.
$scope = new Scope();
$scope->spawn(function () {
    $fiber = new Fiber(fn() => print "never\n");
    try {
        $fiber->start();
    } finally {
        echo "caller unwinds\n";
    }
});
$scope->spawn($scope->cancel(...));
for ($i = 0; $i < 10; ++$i) {
    suspend();
}
echo "end\n";
?>
--EXPECT--
begins
int(1)
string(7) "resumed"
sibling
int(5)
not now
bool(true)
bool(true)
caller unwinds
end
