--TEST--
A graceful shutdown is not held back by protect(), and finally handlers run to their end
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, protect, graceful_shutdown};

$c = spawn(function () {
    try {
        protect(function () {
            delay(10000);
            echo "never\n";
        });
    } finally {
        echo "protected one unwinds\n";
    }
});
$c->finally(function () {
    suspend();
    echo "handler of the coroutine\n";
});
$scope = new Async\Scope();
$scope->spawn(fn() => delay(10000));
$scope->finally(function () {
    suspend();
    echo "handler of the scope\n";
});
suspend();
graceful_shutdown();
echo "caller goes on\n";
?>
--EXPECT--
caller goes on
protected one unwinds
handler of the coroutine
handler of the scope
