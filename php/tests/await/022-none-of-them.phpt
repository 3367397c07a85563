--TEST--
await_any_of_or_fail(): also for none of them the arguments are looked at and count as used
--FILE--
<?php
use Async\Future;
use function Async\await_any_of_or_fail;

function attempt(callable $call) {
    try {
        echo json_encode($call()), "\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}

attempt(fn() => await_any_of_or_fail(0, 5));
attempt(fn() => await_any_of_or_fail(0, ['no future']));
attempt(fn() => await_any_of_or_fail(0, []));
attempt(fn() => await_any_of_or_fail(0, [Future::completed(1), 'x' => Future::completed(2)], Future::completed(3)));
?>
--EXPECT--
Async\AsyncException: Expected parameter 'iterable' to be an array or an object implementing Traversable
Async\AsyncException: Expected an item of type Async\Awaitable, string given
[]
[]
