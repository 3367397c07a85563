--TEST--
finally and previous with cancellations in flight
--EXTENSIONS--
true_async
--FILE--
<?php
function run(Closure $body): void {
    try {
        $body();
    } catch (Throwable $e) {
        for (; $e !== null; $e = $e->getPrevious()) {
            echo $e::class, '(', $e->getMessage(), ') ';
        }
        echo "\n";
    }
}
run(function () {
    try {
        throw new Async\AsyncCancellation('first');
    } finally {
        throw new LogicException('second');
    }
});
run(function () {
    try {
        throw new LogicException('first');
    } finally {
        throw new Async\AsyncCancellation('second');
    }
});
run(function () {
    try {
        throw new Async\AsyncCancellation('lost');
    } finally {
        return;
    }
});
run(fn() => throw new Async\AsyncCancellation('outer', 0, new Async\AsyncCancellation('inner', 0, new Error('innermost'))));
?>
--EXPECT--
LogicException(second) Async\AsyncCancellation(first) 
Async\AsyncCancellation(second) LogicException(first) 
Async\AsyncCancellation(outer) Async\AsyncCancellation(inner) Error(innermost) 
