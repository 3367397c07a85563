--TEST--
Fatal errors: handlers of coroutines and groups that wait for their turn are not called, those of scopes are, behind the shutdown functions
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup};
use function Async\{spawn, delay};

register_shutdown_function(fn() => print("shutdown function\n"));

$scope = new Scope();
$scope->finally(fn() => delay(1000));
$scope->finally(fn() => print("second of the scope\n"));
$scope->finally(function () {
    delay(1);
    echo "third of the scope, which may wait\n";
    throw new Exception('and fail');
});
$scope->dispose();

$coroutine = spawn(fn() => 1);
$coroutine->finally(fn() => delay(1000));
$coroutine->finally(fn() => print("not reached\n"));

$group = new TaskGroup();
$group->spawn(fn() => 1);
$group->finally(fn() => delay(1000));
$group->finally(fn() => print("not reached\n"));
$group->close();

spawn(function () {
    delay(5);
    trigger_error('too bad', E_USER_ERROR);
});
delay(10_000);
echo "not reached\n";
?>
--EXPECTF--
Fatal error: too bad in %s on line %d
shutdown function
second of the scope
third of the scope, which may wait

Fatal error: Uncaught Exception: and fail in %s:%d
Stack trace:
#0 [internal function]: {closure}(Object(Async\Scope))
#1 {main}
  thrown in %s on line %d
