--TEST--
TaskGroup, TaskSet: wrong arguments, strictness, refusals
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet};
foreach ([TaskGroup::class, TaskSet::class] as $class) {
    tell(fn() => new $class(-1));
    tell(fn() => new $class(4294967296));
    tell(fn() => new $class(1, -1));
    tell(fn() => new $class('x'));
    tell(fn() => new $class(1, 1, 1));
    $g = new $class(concurrency: null, queueLimit: null, scope: null);
    tell(fn() => $g->spawn());
    tell(fn() => $g->spawn('no_such_function'));
    tell(fn() => $g->spawnWithKey('k'));
    tell(fn() => $g->spawnWithKey([], fn() => 1));
    tell(fn() => $g->cancel(new Exception()));
    tell(fn() => $g->finally('strlen'));
    tell(fn() => $g->other = 1);
    tell(fn() => serialize($g));
    tell(fn() => clone $g);
    tell(fn() => $g->getIterator());
    tell(function () use ($g) { foreach ($g as &$v) {} });
    tell(fn() => [(new ReflectionClass($g))->isFinal(), class_implements($g)]);
    tell(fn() => [count($g), $g->isFinished(), $g->isClosed()]);
    tell(fn() => Async\await($g));
}
tell(fn() => array_map(fn($m) => method_exists(TaskSet::class, $m), ['getResults', 'getErrors', 'suppressErrors', 'all', 'race', 'any']));
--EXPECT--
ValueError: Async\TaskGroup::__construct(): Argument #1 ($concurrency) must be between 0 and 4294967295
ValueError: Async\TaskGroup::__construct(): Argument #1 ($concurrency) must be between 0 and 4294967295
ValueError: Async\TaskGroup::__construct(): Argument #2 ($queueLimit) must be between 0 and 4294967295
TypeError: Async\TaskGroup::__construct(): Argument #1 ($concurrency) must be of type ?int, string given
TypeError: Async\TaskGroup::__construct(): Argument #3 ($scope) must be of type ?Async\Scope, int given
ArgumentCountError: Async\TaskGroup::spawn() expects at least 1 argument, 0 given
TypeError: Async\TaskGroup::spawn(): Argument #1 ($task) must be a valid callback, function "no_such_function" not found or invalid function name
ArgumentCountError: Async\TaskGroup::spawnWithKey() expects at least 2 arguments, 1 given
TypeError: Async\TaskGroup::spawnWithKey(): Argument #1 ($key) must be of type string|int, array given
TypeError: Async\TaskGroup::cancel(): Argument #1 ($cancellation) must be of type ?Async\AsyncCancellation, Exception given
TypeError: Async\TaskGroup::finally(): Argument #1 ($callback) must be of type Closure, string given
Error: Cannot create dynamic property Async\TaskGroup::$other
Exception: Serialization of 'Async\TaskGroup' is not allowed
Error: Trying to clone an uncloneable object of class Async\TaskGroup
Error: An object of class Async\TaskGroup is not a traversable object in an invalid state
Error: Cannot iterate Async\TaskGroup by reference
[true,{"Async\\Awaitable":"Async\\Awaitable","Countable":"Countable","IteratorAggregate":"IteratorAggregate","Traversable":"Traversable"}]
[0,true,false]
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, Async\TaskGroup given
ValueError: Async\TaskSet::__construct(): Argument #1 ($concurrency) must be between 0 and 4294967295
ValueError: Async\TaskSet::__construct(): Argument #1 ($concurrency) must be between 0 and 4294967295
ValueError: Async\TaskSet::__construct(): Argument #2 ($queueLimit) must be between 0 and 4294967295
TypeError: Async\TaskSet::__construct(): Argument #1 ($concurrency) must be of type ?int, string given
TypeError: Async\TaskSet::__construct(): Argument #3 ($scope) must be of type ?Async\Scope, int given
ArgumentCountError: Async\TaskSet::spawn() expects at least 1 argument, 0 given
TypeError: Async\TaskSet::spawn(): Argument #1 ($task) must be a valid callback, function "no_such_function" not found or invalid function name
ArgumentCountError: Async\TaskSet::spawnWithKey() expects at least 2 arguments, 1 given
TypeError: Async\TaskSet::spawnWithKey(): Argument #1 ($key) must be of type string|int, array given
TypeError: Async\TaskSet::cancel(): Argument #1 ($cancellation) must be of type ?Async\AsyncCancellation, Exception given
TypeError: Async\TaskSet::finally(): Argument #1 ($callback) must be of type Closure, string given
Error: Cannot create dynamic property Async\TaskSet::$other
Exception: Serialization of 'Async\TaskSet' is not allowed
Error: Trying to clone an uncloneable object of class Async\TaskSet
Error: An object of class Async\TaskSet is not a traversable object in an invalid state
Error: Cannot iterate Async\TaskSet by reference
[true,{"Async\\Awaitable":"Async\\Awaitable","Countable":"Countable","IteratorAggregate":"IteratorAggregate","Traversable":"Traversable"}]
[0,true,false]
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, Async\TaskSet given
[false,false,false,false,false,false]
