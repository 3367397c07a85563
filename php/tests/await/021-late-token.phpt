--TEST--
await_*() and waits for a scope: a token that fires after the outcome, before the waiter goes on, comes too late
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{AsyncCancellation, Scope};
use function Async\{await, await_all, await_any_or_fail, spawn, suspend};

/** Ends one step after what was spawned before. */
function late_token() { return spawn(fn() => suspend()); }
function work() { return spawn(function () { suspend(); return 5; }); }

$work = work();
$token = late_token();
tell(fn() => await_all([$work], $token));
$work = work();
$token = late_token();
tell(fn() => await_any_or_fail([$work], $token));

$scope = new Scope();
$scope->spawn(fn() => suspend());
$token = late_token();
tell(fn() => $scope->awaitCompletion($token));
$scope->spawn(function () { suspend(); throw new Exception('E'); });
$token = late_token();
tell(fn() => $scope->awaitCompletion($token));

$scope->spawn(function () { suspend(); suspend(); throw new Exception('E'); });
suspend();
$scope->asNotSafely()->disposeSafely();
$token = late_token();
tell(fn() => $scope->awaitAfterCancellation(null, $token));

echo "a token that is first counts, and so does a cancellation\n";
$token = late_token();
$work = work();
tell(fn() => await_all([$work], $token));
$scope = new Scope();
$token = late_token();
$scope->spawn(fn() => suspend());
tell(fn() => $scope->awaitCompletion($token));
$work = work();
$waiter = spawn(fn() => tell(fn() => await_all([$work])));
spawn(function () use ($waiter) { suspend(); $waiter->cancel(new AsyncCancellation('mine')); });
turns(4);
--EXPECT--
[[5],[]]
5
null
Exception: E
Exception: E
a token that is first counts, and so does a cancellation
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
Async\AsyncCancellation: mine
