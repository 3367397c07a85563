--TEST--
Context: values of scopes and coroutines go with them
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\{spawn, await, suspend, current_context, coroutine_context};
class Probe { public $held; function __construct(public string $name) {} function __destruct() { echo "$this->name gone\n"; } }
$c = spawn(function () { coroutine_context()->set('probe', new Probe('of a coroutine')); });
await($c);
echo "ended\n";
unset($c);
$c = spawn(function () { $p = new Probe('with a cycle'); $p->held = coroutine_context(); coroutine_context()->set('probe', $p); });
await($c);
unset($c);
gc_collect_cycles();
suspend();
$scope = new Scope();
await($scope->spawn(function () { current_context()->set('probe', new Probe('of a scope')); }));
suspend();
echo "scope goes\n";
unset($scope);
suspend();
$scope = new Scope();
await($scope->spawn(function () use ($scope) { current_context()->set('scope', $scope)->set('probe', new Probe('of a scope that holds itself')); }));
suspend();
unset($scope);
gc_collect_cycles();
suspend(); suspend();
echo "end\n";
--EXPECT--
ended
of a coroutine gone
with a cycle gone
scope goes
of a scope gone
of a scope that holds itself gone
end
