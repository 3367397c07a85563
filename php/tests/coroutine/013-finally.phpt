--TEST--
finally(): once, in order, with the coroutine, whatever the end was; at once when it has ended
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

function watch(Async\Coroutine $c, string $name): Async\Coroutine {
    foreach ([1, 2] as $n) {
        $c->finally(function (...$arguments) use ($c, $name, $n) {
            echo "$name $n ", count($arguments), ' ', var_export($arguments[0] === $c, true), ' ', var_export($c->isCompleted(), true), "\n";
        });
    }
    return $c;
}
watch(spawn(fn() => 1), 'returned');
$scope = new Async\Scope();
$scope->setExceptionHandler(function () {});
$failed = watch($scope->spawn(function () { throw new LogicException('x'); }), 'failed');
$cancelled = watch(spawn(fn() => suspend()), 'cancelled');
$never = watch(spawn(fn() => 1), 'never started');
$never->cancel();
suspend();
$cancelled->cancel();
suspend();
suspend();
echo "late: ";
$cancelled->finally(function ($c) { echo get_class($c), "\n"; });
echo "after\n";
try {
    $cancelled->finally(function () { throw new DomainException('of a late handler'); });
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
try {
    $never->finally('strlen');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
returned 1 1 true true
returned 2 1 true true
failed 1 1 true true
failed 2 1 true true
never started 1 1 true true
never started 2 1 true true
cancelled 1 1 true true
cancelled 2 1 true true
late: Async\Coroutine
after
of a late handler
Async\Coroutine::finally(): Argument #1 ($callback) must be of type Closure, string given
