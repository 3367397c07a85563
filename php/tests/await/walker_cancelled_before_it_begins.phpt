--TEST--
The walk through an iterator that is cancelled before it begins does not leave its caller waiting
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, Scope};
use function Async\{await, await_all, await_any_or_fail, spawn, suspend};

function tasks(): Generator
{
    suspend();
    yield 'a' => spawn(fn() => 1);
    suspend();
    yield 'b' => spawn(fn() => 2);
}

function turns(): void
{
    for ($i = 0; $i < 10; ++$i) {
        suspend();
    }
}

function fail(): void
{
    $failing = spawn(fn() => throw new Exception('sibling'));
    $failing->finally(fn() => print "sibling failed\n");
    $GLOBALS['kept'][] = $failing;
}

fail();
echo json_encode(await_all(tasks())), "\n";
fail();
var_dump(await_any_or_fail((function () { yield spawn(fn() => 3); })()));

$scope = Scope::inherit();
$caller = $scope->spawn(fn() => json_encode(await_all(new ArrayIterator([Future::completed(4)]))));
$scope->spawn($scope->disposeSafely(...));
echo await($caller), "\n";

$scope = new Scope();
$scope->spawn(function () {
    try {
        await_all(tasks());
    } finally {
        echo "caller unwinds\n";
    }
});
$scope->spawn($scope->cancel(...));
turns();
foreach ($kept as $failed) {
    try {
        await($failed);
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
sibling failed
[{"a":1,"b":2},[]]
sibling failed
int(3)
[[4],[]]
caller unwinds
sibling
sibling
