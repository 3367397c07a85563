--TEST--
GC: a coroutine that has had finally handlers does not keep its scope
--FILE--
<?php
use function Async\{await, spawn, suspend};

class Token { function __destruct() { echo "token gone\n"; } }

function run(bool $has_finally): void {
    $scope = new Async\Scope();
    $coroutine = $scope->spawn(fn() => 1);
    if ($has_finally) {
        $coroutine->finally(function () { suspend(); echo "finally\n"; });
    }
    $token = new Token();
    $scope->setExceptionHandler(function () use ($coroutine, $token) {});
    await($coroutine);
    suspend();
    suspend();
}
foreach ([false, true] as $has_finally) {
    run($has_finally);
    gc_collect_cycles();
    suspend();
    suspend();
    echo "--\n";
}
?>
--EXPECT--
token gone
--
finally
token gone
--
