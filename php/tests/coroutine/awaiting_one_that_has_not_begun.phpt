--TEST--
getAwaitingInfo() of a coroutine that awaits one which has not begun yet
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn, suspend};

$late = null;
$waiter = spawn(function () use (&$late) {
    $late = spawn(fn () => suspend());
    await($late);
});
$looker = spawn(function () use ($waiter, &$late) {
    var_dump(count($waiter->getAwaitingInfo()), $late->isStarted(), $late->getSuspendLocation());
});
await($looker);
?>
--EXPECT--
int(1)
bool(false)
string(7) "unknown"
