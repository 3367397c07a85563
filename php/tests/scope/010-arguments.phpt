--TEST--
Scope: wrong arguments, strictness, refusals
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Scope;
tell(fn() => new Scope(1));
tell(fn() => Scope::inherit(1));
$s = new Scope();
tell(fn() => $s->provideScope() === $s);
tell(fn() => $s->asNotSafely() === $s);
tell(fn() => $s->allowZombies() === $s);
tell(fn() => $s->spawn());
tell(fn() => $s->spawn('strlen'));
tell(fn() => $s->cancel(new Exception()));
tell(fn() => $s->awaitCompletion());
tell(fn() => $s->awaitCompletion(null));
tell(fn() => $s->awaitAfterCancellation('no_such_function'));
tell(fn() => $s->awaitAfterCancellation(null, 1));
tell(fn() => $s->setExceptionHandler('no_such_function'));
tell(fn() => $s->setChildScopeExceptionHandler());
tell(fn() => $s->finally('strlen'));
tell(fn() => $s->disposeAfterTimeout(-1));
tell(fn() => $s->disposeAfterTimeout());
tell(fn() => $s->other = 1);
tell(fn() => serialize($s));
tell(fn() => clone $s);
tell(fn() => [$s->isFinished(), $s->isClosed(), $s->isCancelled(), $s->getChildScopes()]);
tell(fn() => [(new ReflectionClass($s))->isFinal(), class_implements($s)]);
--EXPECT--
ArgumentCountError: Async\Scope::__construct() expects exactly 0 arguments, 1 given
TypeError: Async\Scope::inherit(): Argument #1 ($parentScope) must be of type ?Async\Scope, int given
true
true
true
ArgumentCountError: Async\Scope::spawn() expects at least 1 argument, 0 given
TypeError: Async\Scope::spawn(): Argument #1 ($callable) must be of type Closure, string given
TypeError: Async\Scope::cancel(): Argument #1 ($cancellationError) must be of type ?Async\AsyncCancellation, Exception given
ArgumentCountError: Async\Scope::awaitCompletion() expects exactly 1 argument, 0 given
TypeError: Async\Scope::awaitCompletion(): Argument #1 ($cancellation) must be of type Async\Awaitable, null given
TypeError: Async\Scope::awaitAfterCancellation(): Argument #1 ($errorHandler) must be a valid callback or null, function "no_such_function" not found or invalid function name
TypeError: Async\Scope::awaitAfterCancellation(): Argument #2 ($cancellation) must be of type ?Async\Awaitable, int given
TypeError: Async\Scope::setExceptionHandler(): Argument #1 ($exceptionHandler) must be a valid callback, function "no_such_function" not found or invalid function name
ArgumentCountError: Async\Scope::setChildScopeExceptionHandler() expects exactly 1 argument, 0 given
TypeError: Async\Scope::finally(): Argument #1 ($callback) must be of type Closure, string given
ValueError: Async\Scope::disposeAfterTimeout(): Argument #1 ($timeout) must be greater than or equal to 0
ArgumentCountError: Async\Scope::disposeAfterTimeout() expects exactly 1 argument, 0 given
Error: Cannot create dynamic property Async\Scope::$other
Exception: Serialization of 'Async\Scope' is not allowed
Error: Trying to clone an uncloneable object of class Async\Scope
[true,false,false,[]]
[true,{"Async\\ScopeProvider":"Async\\ScopeProvider"}]
