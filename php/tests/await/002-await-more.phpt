--TEST--
await(): the same object for everybody, futures as awaitable and token, a token that has ended
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, timeout, delay};
use Async\{Future, FutureState, AsyncCancellation, TaskGroup};

function outcome(Closure $action): void {
    try {
        var_dump($action());
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), $e->getPrevious() ? ' <- ' . $e->getPrevious()::class : '', "\n";
    }
}
// Any number of awaiters get the same object.
$failed = spawn(function () { suspend(); throw new LogicException('shared'); });
$seen = [];
foreach ([1, 2, 3] as $n) {
    spawn(function () use ($failed, &$seen) { try { await($failed); } catch (LogicException $e) { $seen[] = $e; } });
}
try { await($failed); } catch (LogicException $e) { $seen[] = $e; }
suspend();
var_dump(count($seen), count(array_unique(array_map(spl_object_id(...), $seen))), $seen[0] === $failed->getException());

$object = new stdClass();
$c = spawn(fn() => $object);
var_dump(await($c) === $object, await($c) === $object);

// The awaited coroutine goes on when the token has fired.
$slow = spawn(function () { suspend(); suspend(); suspend(); echo "slow goes on\n"; return 'slow'; });
outcome(fn() => await($slow, spawn(fn() => 1)));
outcome(fn() => await($slow));
// A token that has ended ends the call, whatever the awaitable is.
outcome(fn() => await(spawn(fn() => suspend()), Future::completed(1)));
outcome(fn() => await(spawn(fn() => suspend()), Future::failed(new DomainException('t'))));
$cancelled = timeout(1000);
$cancelled->cancel();
outcome(fn() => await(spawn(fn() => suspend()), $cancelled));
// Only what can complete can be awaited.
outcome(fn() => await(new TaskGroup()));
outcome(fn() => await(new Async\Channel()));
?>
--EXPECT--
int(4)
int(1)
bool(true)
bool(true)
bool(true)
Async\OperationCanceledException: Operation has been cancelled
slow goes on
string(4) "slow"
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled <- DomainException
Async\OperationCanceledException: Operation has been cancelled <- Async\AsyncCancellation
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, Async\TaskGroup given
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, Async\Channel given
