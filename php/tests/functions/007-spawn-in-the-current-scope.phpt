--TEST--
spawn() uses the scope of the running coroutine, the main scope at top level
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$scope = new Async\Scope();
$scope->asNotSafely();
$scope->spawn(function () {
    spawn(function () {
        try { suspend(); suspend(); echo "never\n"; } finally { echo "cancelled with its scope\n"; }
    });
});
spawn(function () { suspend(); suspend(); suspend(); echo "another scope goes on\n"; });
suspend();
suspend();
$scope->cancel();
?>
--EXPECT--
cancelled with its scope
another scope goes on
