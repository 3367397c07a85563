--TEST--
Context: wrong keys and arguments, strictness, refusals
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Context;
$c = new Context();
foreach ([5, 1.5, null, true, []] as $key) {
    tell(fn() => $c->set($key, 1));
}
foreach (['find', 'get', 'has', 'findLocal', 'getLocal', 'hasLocal', 'unset'] as $method) {
    tell(fn() => $c->$method(5));
    tell(fn() => $c->$method());
}
tell(fn() => $c->set('a'));
tell(fn() => new Context(1));
tell(fn() => $c->other = 1);
tell(fn() => serialize($c));
tell(fn() => clone $c);
tell(fn() => [(new ReflectionClass($c))->isFinal(), get_parent_class(Async\ContextException::class)]);
--EXPECT--
TypeError: Async\Context::set(): Argument #1 ($key) must be of type string|object, int given
TypeError: Async\Context::set(): Argument #1 ($key) must be of type string|object, float given
TypeError: Async\Context::set(): Argument #1 ($key) must be of type string|object, null given
TypeError: Async\Context::set(): Argument #1 ($key) must be of type string|object, bool given
TypeError: Async\Context::set(): Argument #1 ($key) must be of type string|object, array given
TypeError: Async\Context::find(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::find() expects exactly 1 argument, 0 given
TypeError: Async\Context::get(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::get() expects exactly 1 argument, 0 given
TypeError: Async\Context::has(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::has() expects exactly 1 argument, 0 given
TypeError: Async\Context::findLocal(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::findLocal() expects exactly 1 argument, 0 given
TypeError: Async\Context::getLocal(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::getLocal() expects exactly 1 argument, 0 given
TypeError: Async\Context::hasLocal(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::hasLocal() expects exactly 1 argument, 0 given
TypeError: Async\Context::unset(): Argument #1 ($key) must be of type string|object, int given
ArgumentCountError: Async\Context::unset() expects exactly 1 argument, 0 given
ArgumentCountError: Async\Context::set() expects at least 2 arguments, 1 given
{}
Error: Cannot create dynamic property Async\Context::$other
Exception: Serialization of 'Async\Context' is not allowed
Error: Trying to clone an uncloneable object of class Async\Context
[true,"Async\\AsyncException"]
