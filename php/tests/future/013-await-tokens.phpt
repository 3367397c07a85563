--TEST--
Future::await with a token, from coroutines, cancelled while it waits
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState, AsyncCancellation};
use function Async\{spawn, suspend, await, timeout};
$state = new FutureState();
$future = new Future($state);
tell(fn() => $future->await(timeout(1)));
tell(fn() => $future->await(cancellation: timeout(1)));
tell(fn() => $future->await(Future::completed()));
tell(fn() => $future->await(Future::failed(new LogicException('E'))));
$waiter = spawn(function () use ($future) { tell(fn() => $future->await()); });
suspend();
$waiter->cancel();
suspend();
echo "several who wait\n";
foreach ([1, 2, 3] as $i) { spawn(function () use ($future, $i) { echo "$i: " . $future->await() . "\n"; }); }
suspend();
$state->complete('value');
echo "completed\n";
suspend();
tell(fn() => $future->await());
tell(fn() => $future->await(Future::failed(new LogicException('E'))));
tell(fn() => $future->await($future));
echo "the same exception for all\n";
$state = new FutureState();
$future = new Future($state);
$error = new DomainException('shared');
foreach ([1, 2] as $i) { spawn(function () use ($future, $error) { try { $future->await(); } catch (DomainException $e) { var_dump($e === $error); } }); }
suspend();
$state->error($error);
suspend();
--EXPECT--
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 1 milliseconds
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 1 milliseconds
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
  previous LogicException: E
Async\AsyncCancellation: Coroutine cancelled
several who wait
completed
1: value
2: value
3: value
"value"
Async\OperationCanceledException: Operation has been cancelled
  previous LogicException: E
"value"
the same exception for all
bool(true)
bool(true)
