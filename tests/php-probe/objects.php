<?php
// A coroutine is a PHP object, and PHP counts it.
use function probe\{spawn, suspend, await};

class Noisy {
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

echo "weak references see the end\n";
$kept = spawn(fn() => 1);
$weak = WeakReference::create($kept);
unset($kept);
echo '  alive: ', var_export($weak->get() !== null, true), "\n";
suspend();
echo '  alive: ', var_export($weak->get() !== null, true), "\n";

spawn(function () { echo "after the script\n"; });
echo "end of the script\n";
