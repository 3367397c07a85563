--TEST--
Future chains: callbacks run in a coroutine of their own, in order of subscription
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState};
use function Async\{spawn, suspend, await, current_coroutine, get_coroutines};
$main = current_coroutine_or_null();
function current_coroutine_or_null() { spawn(fn() => 1); return current_coroutine(); }
$state = new FutureState();
$future = new Future($state);
$derived = [];
foreach (['a', 'b', 'c'] as $n) {
    $derived[] = $future->map(function () use ($n, $main) { echo "$n ", current_coroutine() === $main ? "IN MAIN\n" : "own coroutine\n"; });
}
$state->complete(1);
echo "not inside complete()\n";
await($derived[0]);
echo "after all of them\n";
$derived[1]->ignore(); $derived[2]->ignore();
echo "on a completed future\n";
$later = $future->map(function () { echo "spawned at once\n"; });
echo "main first\n";
suspend();
var_dump($later->isCompleted());
$later->ignore();
echo "branches are independent\n";
$one = $future->map(fn() => throw new Exception('one'));
$two = $future->map(fn() => 'two');
tell(fn() => await($two));
tell(fn() => await($one));
--EXPECT--
not inside complete()
a own coroutine
b own coroutine
c own coroutine
after all of them
on a completed future
main first
spawned at once
bool(true)
branches are independent
"two"
Exception: one
