--TEST--
ThreadChannel: a FutureState moves once, and completes the future that stays; closures that cannot cross
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{ThreadChannel, Future, FutureState};
use function Async\{await, spawn};
$c = new ThreadChannel(1);
function pass(mixed $value): mixed { global $c; $c->send($value); return $c->recv(); }
$state = new FutureState();
$future = new Future($state);
$moved = pass($state);
var_dump($moved !== $state, $moved->isCompleted());
tell(fn() => $state->complete(1));
tell(fn() => $state->error(new LogicException('x')));
tell(fn() => pass($state));
tell(fn() => pass([$moved]));
$waiter = spawn(fn() => await($future));
$chained = $future->map(fn($x) => "$x mapped");
$moved->complete('by the other');
var_dump(await($waiter), $chained->await(), $state->isCompleted(), $moved->isCompleted());
tell(fn() => $moved->complete(2));
tell(fn() => $moved->error(new LogicException('x')));
tell(fn() => $state->complete(2));
echo "errors\n";
$state = new FutureState();
$future = new Future($state);
pass($state)->error(new DomainException('message', 7));
tell(fn() => $future->await());
echo "in a closure, twice the same\n";
$state = new FutureState();
$future = new Future($state);
$f = pass(function () use ($state) { $state->complete('from a closure'); });
$f();
var_dump($future->await());
$state = new FutureState();
$future = new Future($state);
[$a, $b] = pass([$state, $state]);
var_dump($a === $b);
$a->complete('once');
var_dump($future->await());
echo "a refused transfer takes nothing\n";
$state = new FutureState();
$future = new Future($state);
tell(fn() => pass([$state, fopen('php://memory', 'r')]));
$state->complete('still here');
var_dump($future->await());
tell(fn() => pass($future));
echo "closures\n";
foreach ([
    function () {
        class Declared {}
    },
    function () {
        function declared() {}
    },
    fn() => new class {},
    fn() => fn() => new class {},
    (new class { function make() { return fn() => 1; } })->make(),
] as $closure) {
    for ($i = 0; $i < 2; $i++) {
        try { pass($closure); } catch (Error $e) { echo str_replace(__FILE__, 'FILE', $e->getMessage()), "\n"; }
    }
}
?>
--EXPECT--
bool(true)
bool(false)
Async\AsyncException: FutureState ownership was transferred to another thread
Async\AsyncException: FutureState ownership was transferred to another thread
Async\AsyncException: FutureState cannot be transferred to multiple threads
Async\AsyncException: FutureState cannot be transferred to multiple threads
string(12) "by the other"
string(19) "by the other mapped"
bool(true)
bool(true)
Async\AsyncException: FutureState is already completed
Async\AsyncException: FutureState is already completed
Async\AsyncException: FutureState ownership was transferred to another thread
errors
DomainException: message
in a closure, twice the same
string(14) "from a closure"
bool(true)
string(4) "once"
a refused transfer takes nothing
Error: Cannot transfer a resource between threads
string(10) "still here"
Error: Cannot transfer an object of class Async\Future between threads
closures
Cannot transfer closure to another thread: illegal class declaration at FILE:49
Cannot transfer closure to another thread: illegal class declaration at FILE:49
Cannot transfer closure to another thread: illegal class declaration at FILE:52
Cannot transfer closure to another thread: illegal class declaration at FILE:52
Cannot transfer closure to another thread: illegal class declaration at FILE:54
Cannot transfer closure to another thread: illegal class declaration at FILE:54
Cannot transfer closure to another thread: illegal class declaration at FILE:55
Cannot transfer closure to another thread: illegal class declaration at FILE:55
Cannot transfer closure to another thread: it belongs to an anonymous class at FILE:56
Cannot transfer closure to another thread: it belongs to an anonymous class at FILE:56
