--TEST--
Pool: wrong arguments, strictness, refusals
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Pool;
$f = fn() => 1;
tell(fn() => new Pool());
tell(fn() => new Pool('no_such_function'));
tell(fn() => new Pool($f, 'no_such_function'));
tell(fn() => new Pool($f, min: -1));
tell(fn() => new Pool($f, max: 0));
tell(fn() => new Pool($f, max: -5));
tell(fn() => new Pool($f, min: 3, max: 2));
tell(fn() => new Pool($f, healthcheckInterval: -1));
tell(fn() => new Pool($f, min: 'x'));
$p = new Pool($f);
tell(fn() => $p->acquire('x'));
tell(fn() => $p->release());
tell(fn() => $p->setCircuitBreakerStrategy(1));
tell(fn() => $p->setCircuitBreakerStrategy());
tell(fn() => $p->other = 1);
tell(fn() => serialize($p));
tell(fn() => clone $p);
tell(fn() => [count($p), $p->idleCount(), $p->activeCount(), $p->isClosed(), $p->getState()->name]);
tell(fn() => [(new ReflectionClass($p))->isFinal(), class_implements($p), get_parent_class(Async\PoolException::class)]);
echo "positional order\n";
$p = new Pool(
    function () { echo "factory\n"; return new ArrayObject(); },
    function ($r) { echo 'destructor ', get_class($r), "\n"; },
    function ($r) { echo "healthcheck\n"; return true; },
    function ($r) { echo 'beforeAcquire ', get_class($r), "\n"; return true; },
    function ($r) { echo 'beforeRelease ', get_class($r), "\n"; return true; },
    1, 2, 0
);
$r = $p->acquire();
$p->release($r);
$p->close();
--EXPECT--
ArgumentCountError: Async\Pool::__construct() expects at least 1 argument, 0 given
TypeError: Async\Pool::__construct(): Argument #1 ($factory) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Async\Pool::__construct(): Argument #2 ($destructor) must be a valid callback or null, function "no_such_function" not found or invalid function name
ValueError: Async\Pool::__construct(): Argument #6 ($min) must be >= 0
ValueError: Async\Pool::__construct(): Argument #7 ($max) must be >= 1
ValueError: Async\Pool::__construct(): Argument #7 ($max) must be >= 1
ValueError: Async\Pool::__construct(): Argument #6 ($min) must be <= max
ValueError: Async\Pool::__construct(): Argument #8 ($healthcheckInterval) must be >= 0
TypeError: Async\Pool::__construct(): Argument #6 ($min) must be of type int, string given
TypeError: Async\Pool::acquire(): Argument #1 ($timeout) must be of type int, string given
ArgumentCountError: Async\Pool::release() expects exactly 1 argument, 0 given
TypeError: Async\Pool::setCircuitBreakerStrategy(): Argument #1 ($strategy) must be of type ?Async\CircuitBreakerStrategy, int given
ArgumentCountError: Async\Pool::setCircuitBreakerStrategy() expects exactly 1 argument, 0 given
Error: Cannot create dynamic property Async\Pool::$other
Exception: Serialization of 'Async\Pool' is not allowed
Error: Trying to clone an uncloneable object of class Async\Pool
[0,0,0,false,"ACTIVE"]
[true,{"Countable":"Countable","Async\\CircuitBreaker":"Async\\CircuitBreaker"},"Async\\AsyncException"]
positional order
factory
beforeAcquire ArrayObject
beforeRelease ArrayObject
destructor ArrayObject
