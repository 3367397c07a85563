--TEST--
What an iterator spawns belongs to a child scope of the caller's; when the iterator throws, what has not begun never runs
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

$scope = new Async\Scope();
$scope->spawn(function () {
    await_all((function () {
        yield spawn(function () { try { while (true) suspend(); } finally { echo "cancelled with the caller's scope\n"; } });
        suspend();
        suspend();
    })());
});
suspend();
suspend();
suspend();
$scope->cancel();
suspend();
suspend();
try {
    await_all((function () {
        yield spawn(function () { echo "begun\n"; suspend(); suspend(); echo "goes on: the scope is safe\n"; });
        suspend();
        yield spawn(function () { echo "never\n"; });
        throw new LogicException('of the generator');
    })());
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
for ($i = 0; $i < 5; $i++) suspend();
?>
--EXPECT--
cancelled with the caller's scope
begun
of the generator
goes on: the scope is safe
