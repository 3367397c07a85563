--TEST--
spawn_with(): the scope of the provider, the hooks of a strategy, errors
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn_with, suspend, await, spawn};
use Async\{Scope, ScopeProvider, SpawnStrategy, Coroutine};

class Provider implements ScopeProvider {
    public function __construct(private mixed $given) {}
    public function provideScope(): ?Scope {
        if ($this->given instanceof Throwable) {
            throw $this->given;
        }
        return $this->given;
    }
}
class Strategy implements SpawnStrategy {
    public function __construct(private Scope $scope) {}
    public function provideScope(): ?Scope { echo "provideScope\n"; return $this->scope; }
    public function beforeCoroutineEnqueue(Coroutine $coroutine, Scope $scope): array {
        echo "before ", var_export($scope === $this->scope, true), ' ', var_export($coroutine->isQueued(), true), "\n";
        return ['ignored'];
    }
    public function afterCoroutineEnqueue(Coroutine $coroutine, Scope $scope): void {
        echo "after ", var_export($scope === $this->scope, true), ' ', var_export($coroutine->isQueued(), true), "\n";
    }
}
function outcome(Closure $action): void {
    try {
        var_dump(await($action()));
    } catch (Throwable $e) {
        echo $e::class, ': ', preg_replace('/, called in.*/', '', $e->getMessage()), "\n";
    }
}
$scope = new Scope();
outcome(fn() => spawn_with($scope, fn($a) => "in a scope $a", 1));
outcome(fn() => spawn_with(new Provider($scope), fn(...$a) => array_sum($a), 1, 2, 3));
outcome(fn() => spawn_with(new Provider(null), fn() => 'current scope'));
outcome(fn() => spawn_with(new Strategy($scope), function () { echo "body\n"; return 'by strategy'; }));
$count = count(Async\get_coroutines());
outcome(fn() => spawn_with(new Provider(new LogicException('of the provider')), fn() => print("never\n")));
outcome(fn() => spawn_with(new Provider(new Async\AsyncCancellation('a cancellation')), fn() => print("never\n")));
outcome(fn() => spawn_with(new Provider('text'), fn() => 1));
var_dump(count(Async\get_coroutines()) === $count);
outcome(fn() => spawn_with(new stdClass(), fn() => 1));
outcome(fn() => spawn_with($scope));
outcome(fn() => spawn_with());
outcome(fn() => spawn_with($scope, 'no_such_function'));
$scope->cancel();
outcome(fn() => spawn_with($scope, fn() => 1));
?>
--EXPECT--
string(12) "in a scope 1"
int(6)
string(13) "current scope"
provideScope
before true false
after true true
body
string(11) "by strategy"
LogicException: of the provider
Async\AsyncCancellation: a cancellation
TypeError: Provider::provideScope(): Return value must be of type ?Async\Scope, string returned
bool(true)
TypeError: Async\spawn_with(): Argument #1 ($provider) must be of type Async\ScopeProvider, stdClass given
ArgumentCountError: Async\spawn_with() expects at least 2 arguments, 1 given
ArgumentCountError: Async\spawn_with() expects at least 2 arguments, 0 given
TypeError: Async\spawn_with(): Argument #2 ($task) must be a valid callback, function "no_such_function" not found or invalid function name
Async\AsyncException: Cannot spawn a coroutine in a closed scope
