--TEST--
protect(): value and exceptions pass, nesting, works outside coroutines
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{protect, spawn, await, suspend, current_coroutine};

var_dump(protect(fn() => 42));
try {
    protect(function () { throw new LogicException('through'); });
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
$c = spawn(function () {
    try {
        protect(function () {
            protect(function () {
                current_coroutine()->cancel();
                suspend();
                echo "inner goes on\n";
            });
            suspend();
            echo "outer goes on, requested: ", var_export(current_coroutine()->isCancellationRequested(), true), "\n";
        });
        echo "not reached\n";
    } catch (Async\AsyncCancellation $e) {
        echo "at the edge: ", $e->getMessage(), "\n";
        return 'value';
    }
});
var_dump(await($c));
?>
--EXPECT--
int(42)
through
inner goes on
outer goes on, requested: true
at the edge: Coroutine cancelled
string(5) "value"
