--TEST--
A coroutine ends: its finally handlers overtake everybody, awaiters go to the tail, errors of handlers come before the awaiter
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$scope = new Async\Scope();
$scope->setExceptionHandler(function ($s, $c, $e) { echo 'scope handler: ', $e->getMessage(), "\n"; });
$c = $scope->spawn(function () { echo "c\n"; return 'result'; });
$c->finally(function () { echo "f1\n"; });
$c->finally(function () { echo "f2\n"; throw new Exception('of f2'); });
spawn(function () { echo "queued before\n"; });
spawn(function () use ($c) { var_dump(await($c)); });
spawn(function () use ($c) { var_dump(await($c)); echo "second awaiter\n"; });
suspend();
echo "main\n";
?>
--EXPECT--
c
f1
f2
scope handler: of f2
queued before
string(6) "result"
string(6) "result"
second awaiter
main
