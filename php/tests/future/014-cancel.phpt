--TEST--
Future::cancel: at once, default message, own object, no effect on completed ones
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState, AsyncCancellation};
use function Async\{spawn, suspend, await};
$future = new Future(new FutureState());
$waiter = spawn(function () use ($future) { tell(fn() => await($future)); });
suspend();
$future->cancel();
tell(fn() => [$future->isCompleted(), $future->isCancelled()]);
suspend();
$mine = new AsyncCancellation('mine');
$future = new Future(new FutureState());
$future->cancel(cancellation: $mine);
try { $future->await(); } catch (AsyncCancellation $e) { var_dump($e === $mine); }
$future->cancel();
try { $future->await(); } catch (AsyncCancellation $e) { var_dump($e === $mine); }
echo "rejected by error() with a cancellation\n";
$state = new FutureState();
$state->error(new AsyncCancellation('E'));
$future = (new Future($state))->ignore();
tell(fn() => [$future->isCompleted(), $future->isCancelled()]);
$state = new FutureState();
$state->error(new Async\OperationCanceledException('E'));
tell(fn() => (new Future($state))->ignore()->isCancelled());
$state = new FutureState();
$state->error(new Exception('E'));
tell(fn() => (new Future($state))->ignore()->isCancelled());
tell(fn() => Future::completed()->ignore()->isCancelled());
echo "chains see it\n";
$future = new Future(new FutureState());
$caught = $future->catch(fn($e) => $e::class);
$mapped = $future->map(fn() => 'skipped');
$future->cancel();
tell(fn() => [await($caught)]);
tell(fn() => await($mapped));
tell(fn() => $mapped->isCancelled());
--EXPECT--
[true,true]
Async\AsyncCancellation: Future has been cancelled
bool(true)
bool(true)
rejected by error() with a cancellation
[true,true]
true
false
false
chains see it
["Async\\AsyncCancellation"]
Async\AsyncCancellation: Future has been cancelled
true
