--TEST--
Errors of finally handlers: one as it is, several as a composite, routed apart from the coroutine's own
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

function show(Throwable $e): string {
    return $e instanceof Async\CompositeException
        ? 'composite(' . implode(', ', array_map(fn($x) => $x->getMessage(), $e->getExceptions())) . ')' : $e->getMessage();
}
$scope = new Async\Scope();
$scope->setExceptionHandler(function ($s, $c, $e) { echo '  handler: ', show($e), "\n"; });

echo "one\n";
$c = $scope->spawn(fn() => 1);
$c->finally(fn() => throw new Exception('h1'));
$c->finally(function () { echo "  still runs\n"; });
suspend();
suspend();
echo "two, and its own\n";
$c = $scope->spawn(function () { throw new Exception('own'); });
$c->finally(fn() => throw new Exception('h1'));
$c->finally(fn() => throw new Exception('h2'));
suspend();
suspend();
echo "with an awaiter\n";
$c = $scope->spawn(function () { throw new Exception('own'); });
$c->finally(fn() => throw new Exception('h1'));
$c->finally(fn() => throw new Exception('h2'));
try { await($c); } catch (Exception $e) { echo '  awaiter: ', show($e), "\n"; }
?>
--EXPECT--
one
  still runs
  handler: h1
two, and its own
  handler: own
  handler: composite(h1, h2)
with an awaiter
  handler: composite(h1, h2)
  awaiter: own
