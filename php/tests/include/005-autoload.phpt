--TEST--
One class needed by many coroutines is loaded once; a loader that fails fails for each; nested loading
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all, delay};

spl_autoload_register(function (string $class) {
    echo "load $class\n";
    suspend();
    delay(1);
    match ($class) {
        'Child' => eval('class Child extends Base { }'),
        'Base' => eval('class Base { const X = "from base"; }'),
        'Throws' => throw new LogicException('loader'),
        default => null,
    };
});
print_r(await_all(array_map(fn($i) => spawn(fn() => Child::X), [1, 2, 3]))[0]);
foreach (['Missing', 'Throws'] as $class) {
    foreach (await_all([spawn(fn() => new $class()), spawn(fn() => new $class())])[1] as $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
var_dump(class_exists('Other'), class_exists('Child', false));
?>
--EXPECT--
load Child
load Base
Array
(
    [0] => from base
    [1] => from base
    [2] => from base
)
load Missing
Error: Class "Missing" not found
Error: Class "Missing" not found
load Throws
load Throws
LogicException: loader
LogicException: loader
load Other
bool(false)
bool(true)
