--TEST--
Scope: who waits for a scope takes the errors that come before it goes on; the first one is thrown
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Scope;
use function Async\{await, delay, spawn, suspend, timeout};

function failing(string ...$messages): Scope {
    $scope = new Scope();
    foreach ($messages as $message) {
        $scope->spawn(function () use ($message) {
            try { delay(60000); } finally { suspend(); throw new Exception($message); }
        });
    }
    suspend();
    $scope->cancel();
    return $scope;
}

$scope = failing('e1', 'e2', 'e3');
try {
    $scope->awaitAfterCancellation();
} catch (Exception $e) {
    echo $e->getMessage(), ' ', json_encode($scope->isClosed()), "\n";
}

$scope = failing('e1', 'e2');
try {
    $scope->awaitAfterCancellation(fn($e) => throw new LogicException('instead of ' . $e->getMessage()));
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}

$scope = new Scope();
$scope->spawn(function () { suspend(); throw new Exception('e1'); });
$scope->spawn(function () {
    try { delay(60000); } catch (Cancellation) { throw new Exception('e2'); }
});
tell(fn() => $scope->awaitCompletion(timeout(60000)));

echo "two waiters\n";
$scope = failing('e1', 'e2');
$other = spawn(fn() => tell(fn() => $scope->awaitAfterCancellation()));
tell(fn() => $scope->awaitAfterCancellation());
await($other);

echo "one that is cancelled meanwhile gives both on\n";
$parent = new Scope();
$parent->setExceptionHandler(fn($s, $c, $e) => print('parent: ' . $e->getMessage() . "\n"));
$scope = Scope::inherit($parent);
foreach (['e1', 'e2'] as $message) {
    $scope->spawn(function () use ($message) {
        try { delay(60000); } finally { suspend(); throw new Exception($message); }
    });
}
$scope->spawn(function () use (&$waiter) {
    try { delay(60000); } finally { suspend(); $waiter->cancel(); }
});
suspend();
$scope->cancel();
$waiter = spawn(fn() => $scope->awaitAfterCancellation());
turns(6);
echo "end\n";
--EXPECT--
e1 true
instead of e1
Exception: e1
two waiters
Exception: e1
  previous Async\AsyncCancellation: Scope was cancelled
Exception: e1
  previous Async\AsyncCancellation: Scope was cancelled
one that is cancelled meanwhile gives both on
parent: e1
parent: e2
end
