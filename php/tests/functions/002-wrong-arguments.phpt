--TEST--
Wrong arguments of the functions
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, protect, await, timeout, current_coroutine, get_coroutines};

foreach ([
    fn() => spawn('no_such_function'),
    fn() => spawn(1),
    fn() => spawn(),
    fn() => suspend(1),
    fn() => delay(),
    fn() => delay('x'),
    fn() => protect('strlen'),
    fn() => protect(),
    fn() => protect(fn() => 1, 2),
    fn() => await(1),
    fn() => await(),
    fn() => await(timeout(1), 5),
    fn() => timeout(0),
    fn() => timeout(-1),
    fn() => current_coroutine(1),
    fn() => get_coroutines(1),
    fn() => Async\graceful_shutdown(1),
] as $wrong) {
    try {
        $wrong();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
TypeError: Async\spawn(): Argument #1 ($task) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Async\spawn(): Argument #1 ($task) must be a valid callback, no array or string given
ArgumentCountError: Async\spawn() expects at least 1 argument, 0 given
ArgumentCountError: Async\suspend() expects exactly 0 arguments, 1 given
ArgumentCountError: Async\delay() expects exactly 1 argument, 0 given
TypeError: Async\delay(): Argument #1 ($ms) must be of type int, string given
TypeError: Async\protect(): Argument #1 ($closure) must be of type Closure, string given
ArgumentCountError: Async\protect() expects exactly 1 argument, 0 given
ArgumentCountError: Async\protect() expects exactly 1 argument, 2 given
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, int given
ArgumentCountError: Async\await() expects at least 1 argument, 0 given
TypeError: Async\await(): Argument #2 ($cancellation) must be of type ?Async\Completable, int given
ValueError: Timeout value must be greater than 0
ValueError: Timeout value must be greater than 0
ArgumentCountError: Async\current_coroutine() expects exactly 0 arguments, 1 given
ArgumentCountError: Async\get_coroutines() expects exactly 0 arguments, 1 given
TypeError: Async\graceful_shutdown(): Argument #1 ($cancellationError) must be of type ?Async\AsyncCancellation, int given
