--TEST--
Fiber: one that was started before the scheduler goes on while a destructor is suspended in another coroutine, and not inside a destructor
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn, suspend};

class Slow {
    function __construct(public ?Fiber $fiber = null) {}
    function __destruct() {
        echo "destructor begins\n";
        suspend();
        $is_refused = false;
        try { $this->fiber?->resume(); } catch (FiberError) { $is_refused = true; }
        if ($this->fiber) var_dump($is_refused === (PHP_VERSION_ID < 80400));
        echo "destructor ends\n";
    }
}

$native = new Fiber(function () {
    while (true) {
        echo "fiber\n";
        Fiber::suspend();
    }
});
$native->start();

$coroutine = spawn(function () { $slow = new Slow(); unset($slow); });
suspend();
$native->resume();
await($coroutine);
$native->resume();

$coroutine = spawn(function () use ($native) { $slow = new Slow($native); ob_start(); unset($slow); echo str_replace("fiber\n", "", ob_get_clean()); });
await($coroutine);
$native->resume();
?>
--EXPECT--
fiber
destructor begins
fiber
destructor ends
fiber
destructor begins
bool(true)
destructor ends
fiber
