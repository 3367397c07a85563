--TEST--
current_coroutine() and get_coroutines()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{current_coroutine, get_coroutines, spawn, suspend, await, delay};

var_dump(get_coroutines());
try {
    current_coroutine();
} catch (Async\AsyncException $e) {
    echo $e::class, ': ', $e->getMessage(), "\n";
}
$a = spawn(function () use (&$a) {
    var_dump(current_coroutine() === $a);
    suspend();
});
$b = spawn(fn() => delay(1000));
$list = get_coroutines();
var_dump(array_is_list($list), count($list), $list[0] === current_coroutine(), $list[1] === $a, $list[2] === $b);
$b->cancel();
suspend();
suspend();
suspend();
var_dump(count(get_coroutines()), get_coroutines()[0] === current_coroutine());
?>
--EXPECT--
array(0) {
}
Async\AsyncException: The current coroutine is not defined
bool(true)
int(3)
bool(true)
bool(true)
bool(true)
bool(true)
int(1)
bool(true)
