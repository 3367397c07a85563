--TEST--
Future and FutureState: strict, not serializable
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};

$state = new FutureState();
$future = new Future($state);
$state->ignore();
foreach ([fn() => $state->x = 1, fn() => serialize($state), fn() => clone $state, fn() => clone $future, fn() => new Future(), fn() => $state->error('x')] as $wrong) {
    try {
        $wrong();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo $e::class, "\n";
    }
}
var_dump((new ReflectionClass($future))->isFinal(), $future instanceof Async\Completable, $state instanceof Async\Awaitable);
?>
--EXPECT--
Error
Exception
Error
Error
ArgumentCountError
TypeError
bool(true)
bool(true)
bool(false)
