--TEST--
Without a scope handler the error of a finally handler is uncaught at once, even if the handle is held
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

$held = spawn(fn() => 1);
$held->finally(function () { throw new LogicException('of the handler'); });
try {
    suspend();
    suspend();
    echo "never\n";
} finally {
    echo "main unwinds\n";
}
?>
--EXPECTF--
main unwinds

Fatal error: Uncaught LogicException: of the handler in %s015-handler-error-uncaught.php:5
Stack trace:
#0 [internal function]: {closure%S}(Object(Async\Coroutine))
#1 {main}
  thrown in %s015-handler-error-uncaught.php on line 5
