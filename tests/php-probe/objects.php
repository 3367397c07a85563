<?php
// A coroutine is a PHP object, and PHP counts it.
use function probe\{spawn, suspend, await, delay};

class Noisy {
    public $coroutine;
    function __construct(public string $name) {}
    function __destruct() { echo "  ~{$this->name}\n"; }
}

echo "dropped before it runs\n";
spawn(function () { echo "  runs all the same\n"; return new Noisy('value of nobody'); });
suspend();

echo "kept after its end\n";
$kept = spawn(fn() => new Noisy('kept value'));
suspend();
echo '  ', await($kept)->name, "\n";
unset($kept);

echo "the closure goes with the body\n";
$noisy = new Noisy('bound');
$kept = spawn(function () use ($noisy) { suspend(); });
unset($noisy);
await($kept);
echo "  object still here\n";

echo "a destructor that suspends\n";
class Sleepy {
    function __destruct() { echo "  falls asleep\n"; delay(1); echo "  wakes up\n"; }
}
spawn(fn() => new Sleepy());
delay(5);

echo "weak references see the end\n";
$kept = spawn(fn() => 1);
$weak = WeakReference::create($kept);
unset($kept);
echo '  alive: ', var_export($weak->get() !== null, true), "\n";
suspend();
echo '  alive: ', var_export($weak->get() !== null, true), "\n";

echo "cycles are collected\n";
(function () {
    $self = spawn(function () use (&$self) { return $self; });
    await($self);
    $self = null;
    $value = new Noisy('in a cycle');
    $value->coroutine = spawn(fn() => $value);
    await($value->coroutine);
})();
gc_collect_cycles();

echo "not to be made by hand\n";
try {
    new probe\Coroutine();
} catch (Error $e) {
    echo '  ', $e->getMessage(), "\n";
}
try {
    $copy = clone spawn(fn() => 1);
} catch (Error $e) {
    echo '  ', $e->getMessage(), "\n";
}
