--TEST--
A fiber that has just suspended can be resumed by another coroutine; each driver gets what it waited for
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await_all, spawn, suspend};

$fiber = new Fiber(function () {
    for ($x = 'start';;) {
        $x = Fiber::suspend("after $x");
    }
});
$first = spawn(function () use ($fiber) {
    $value = $fiber->start();
    echo "first: $value\n";
    try {
        $fiber->resume('first');
    } catch (FiberError $e) {
        echo 'first: ', $e->getMessage(), "\n";
    }
});
$second = spawn(function () use ($fiber) {
    suspend();  // now the fiber has suspended and `first` has not had its turn
    var_dump($fiber->isSuspended());
    $value = $fiber->resume('second');
    echo "second: $value\n";
});
$third = spawn(function () use ($fiber) {
    suspend();
    var_dump($fiber->isRunning());
    try {
        $fiber->resume('third');
    } catch (FiberError $e) {
        echo 'third: ', $e->getMessage(), "\n";
    }
});
[, $errors] = await_all([$first, $second, $third]);
var_dump(count($errors));
echo $fiber->resume('main'), "\n";
?>
--EXPECT--
bool(true)
bool(true)
third: Cannot resume a fiber that is not suspended
first: after start
first: Cannot resume a fiber that is not suspended
second: after second
int(0)
after main
