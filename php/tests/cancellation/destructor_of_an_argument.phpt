--TEST--
Cancellation: what a destructor throws when a coroutine is cancelled before it began belongs to that coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\{spawn, await, suspend};

class Fails {
    function __destruct() {
        throw new Exception('of the destructor');
    }
}
function tell(Throwable $e): void {
    for (; $e; $e = $e->getPrevious()) {
        echo '  ', get_class($e), ': ', $e->getMessage(), "\n";
    }
}
$other = spawn(function () {
    try {
        suspend();
        suspend();
        echo "the other one goes on\n";
    } catch (Throwable $e) {
        tell($e);
    }
});
suspend();

echo "awaited\n";
$cancelled = spawn(fn($x) => print("not reached\n"), new Fails());
$cancelled->cancel();
try {
    await($cancelled);
} catch (Exception $e) {
    tell($e);
}

echo "in a scope\n";
$scope = new Scope();
$scope->setExceptionHandler(fn($scope, $coroutine, $e) => tell($e));
$scope->spawn(fn($x) => print("not reached\n"), new Fails())->cancel();
suspend();

echo "nobody's\n";
spawn(fn($x) => print("not reached\n"), new Fails())->cancel();
suspend();
echo "not reached\n";
?>
--EXPECTF--
awaited
the other one goes on
  Exception: of the destructor
  Async\AsyncCancellation: %s
in a scope
  Exception: of the destructor
  Async\AsyncCancellation: %s
nobody's

Fatal error: Uncaught Async\AsyncCancellation: %s in %s:%d
Stack trace:
#0 %s: Async\Coroutine->cancel()
#1 {main}

Next Exception: of the destructor in %s:%d
Stack trace:
#0 [internal function]: Fails->__destruct()
#1 %s: Async\suspend()
#2 {main}
  thrown in %s on line %d
