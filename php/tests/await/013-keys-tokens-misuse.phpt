--TEST--
await_*(): keys of iterators, tokens, what is not iterable
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_all, await_any_or_fail, await_all_or_fail, delay, timeout, suspend};
use Async\{Future, FutureState};

function outcome(Closure $action): void {
    try {
        echo json_encode($action()), "\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), $e->getPrevious() ? ' <- ' . $e->getPrevious()::class : '', "\n";
    }
}
outcome(fn() => await_all((function () { yield null => spawn(fn() => 1); yield null => spawn(fn() => 2); yield 's' => spawn(fn() => 3); })()));
outcome(fn() => await_all((function () { yield new stdClass() => spawn(fn() => 1); })()));
outcome(fn() => await_all((function () { yield 1.5 => spawn(fn() => 1); })()));
outcome(fn() => await_all(5));
outcome(fn() => await_all('text'));
outcome(fn() => await_all(new stdClass()));
outcome(fn() => await_all([1]));
outcome(fn() => await_all([spawn(fn() => delay(20))], timeout(1)));
outcome(fn() => await_any_or_fail([spawn(fn() => delay(20))], Future::completed(1)));
outcome(fn() => await_any_or_fail([new Future(new FutureState())], spawn(fn() => 'normal end')));

// A token among the triggers still acts as token.
$both = spawn(fn() => 1);
outcome(fn() => await_all([$both], $both));

// Finished ones count at once.
$done = spawn(fn() => 'done');
suspend();
spawn(function () { echo "nobody waits for me\n"; });
outcome(fn() => await_all_or_fail([$done]));

// An exception of an iterator method goes to the caller unchanged.
outcome(fn() => await_all((function () { yield spawn(fn() => 1); throw new DomainException('generator'); })()));
?>
--EXPECT--
[{"0":1,"1":2,"s":3},[]]
Async\AsyncException: Invalid key type: must be string, long or null
Async\AsyncException: Invalid key type: must be string, long or null
Async\AsyncException: Expected parameter 'iterable' to be an array or an object implementing Traversable
Async\AsyncException: Expected parameter 'iterable' to be an array or an object implementing Traversable
Async\AsyncException: Expected parameter 'iterable' to be an array or an object implementing Traversable
Async\AsyncException: Expected an item of type Async\Awaitable, int given
Async\OperationCanceledException: Operation has been cancelled <- Async\TimeoutException
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
Async\OperationCanceledException: Operation has been cancelled
["done"]
nobody waits for me
DomainException: generator
