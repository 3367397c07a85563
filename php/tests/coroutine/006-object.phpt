--TEST--
Strict, not serializable, not constructible, not cloneable
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\spawn;

$c = spawn(fn() => 1);
foreach ([
    fn() => new Async\Coroutine(),
    fn() => $c->other = 1,
    fn() => serialize($c),
    fn() => clone $c,
] as $wrong) {
    try {
        $wrong();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo $e::class, "\n";
    }
}
var_dump((new ReflectionClass($c))->isFinal(), $c instanceof Async\Completable, $c instanceof Async\Awaitable);
?>
--EXPECT--
Error
Error
Exception
Error
bool(true)
bool(true)
bool(true)
