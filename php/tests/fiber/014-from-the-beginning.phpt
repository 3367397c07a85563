--TEST--
In a program that uses the API a fiber is a coroutine from the beginning
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, get_coroutines};

function cycle(): void { $one = new stdClass; $one->self = $one; }

try {
    new Fiber;
} catch (ArgumentCountError $error) {
    echo $error->getMessage(), "\n";
}
cycle();
var_dump(count(get_coroutines()), gc_collect_cycles());
$fiber = new Fiber(function (int $number): int {
    echo "in it\n";
    return $number + Fiber::suspend('suspended');
});
var_dump($fiber->getCoroutine(), $fiber->start(4));
$coroutine = $fiber->getCoroutine();
var_dump($coroutine->isStarted(), $coroutine->isCompleted(), $coroutine->getResult());
$fiber->resume(3);
var_dump($coroutine === $fiber->getCoroutine(), $coroutine->isCompleted(), $coroutine->getResult(), await($coroutine));
?>
--EXPECT--
Fiber::__construct() expects exactly 1 argument, 0 given
int(1)
int(0)
in it
NULL
string(9) "suspended"
bool(true)
bool(false)
NULL
bool(true)
bool(true)
int(7)
int(7)
