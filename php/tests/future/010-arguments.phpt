--TEST--
Future, FutureState: wrong arguments, refusals
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState};
$state = new FutureState();
$state->ignore();
$future = new Future($state);
tell(fn() => new FutureState(1));
tell(fn() => new Future());
tell(fn() => new Future(1));
tell(fn() => $state->complete());
tell(fn() => $state->error());
tell(fn() => $state->error('text'));
tell(fn() => $state->error(new stdClass()));
tell(fn() => Future::failed('text'));
tell(fn() => Future::failed());
foreach (['map', 'catch', 'finally'] as $method) {
    tell(fn() => $future->$method());
    tell(fn() => $future->$method('no_such_function'));
    tell(fn() => $future->$method([1]));
}
tell(fn() => $future->cancel(new Exception()));
tell(fn() => $future->cancel('text'));
tell(fn() => $future->await('text'));
tell(fn() => $state->other = 1);
tell(fn() => $future->other = 1);
tell(fn() => serialize($state));
tell(fn() => serialize($future));
tell(fn() => clone $state);
tell(fn() => clone $future);
tell(fn() => array_map(fn($c) => [(new ReflectionClass($c))->isFinal(), class_implements($c)], [Future::class, FutureState::class]));
tell(fn() => Async\await($state));
tell(fn() => [$state->isCompleted(), $future->isCompleted()]);
--EXPECT--
ArgumentCountError: Async\FutureState::__construct() expects exactly 0 arguments, 1 given
ArgumentCountError: Async\Future::__construct() expects exactly 1 argument, 0 given
TypeError: Async\Future::__construct(): Argument #1 ($state) must be of type Async\FutureState, int given
ArgumentCountError: Async\FutureState::complete() expects exactly 1 argument, 0 given
ArgumentCountError: Async\FutureState::error() expects exactly 1 argument, 0 given
TypeError: Async\FutureState::error(): Argument #1 ($throwable) must be of type Throwable, string given
TypeError: Async\FutureState::error(): Argument #1 ($throwable) must be of type Throwable, stdClass given
TypeError: Async\Future::failed(): Argument #1 ($throwable) must be of type Throwable, string given
ArgumentCountError: Async\Future::failed() expects exactly 1 argument, 0 given
ArgumentCountError: Async\Future::map() expects exactly 1 argument, 0 given
TypeError: Async\Future::map(): Argument #1 ($map) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Async\Future::map(): Argument #1 ($map) must be a valid callback, array callback must have exactly two members
ArgumentCountError: Async\Future::catch() expects exactly 1 argument, 0 given
TypeError: Async\Future::catch(): Argument #1 ($catch) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Async\Future::catch(): Argument #1 ($catch) must be a valid callback, array callback must have exactly two members
ArgumentCountError: Async\Future::finally() expects exactly 1 argument, 0 given
TypeError: Async\Future::finally(): Argument #1 ($finally) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Async\Future::finally(): Argument #1 ($finally) must be a valid callback, array callback must have exactly two members
TypeError: Async\Future::cancel(): Argument #1 ($cancellation) must be of type ?Async\AsyncCancellation, Exception given
TypeError: Async\Future::cancel(): Argument #1 ($cancellation) must be of type ?Async\AsyncCancellation, string given
TypeError: Async\Future::await(): Argument #1 ($cancellation) must be of type ?Async\Completable, string given
Error: Cannot create dynamic property Async\FutureState::$other
Error: Cannot create dynamic property Async\Future::$other
Exception: Serialization of 'Async\FutureState' is not allowed
Exception: Serialization of 'Async\Future' is not allowed
Error: Trying to clone an uncloneable object of class Async\FutureState
Error: Trying to clone an uncloneable object of class Async\Future
[[true,{"Async\\Completable":"Async\\Completable","Async\\Awaitable":"Async\\Awaitable"}],[true,[]]]
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, Async\FutureState given
[false,false]
