--TEST--
A cancellation goes from a scope to its coroutines and child scopes, downwards only
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await};
use Async\Scope;

function waits(string $name): Closure {
    return function () use ($name) { try { delay(10000); } catch (Cancellation $e) { echo "$name: ", $e->getMessage(), "\n"; throw $e; } };
}
$parent = new Scope();
$child = Scope::inherit($parent);
$grandchild = Scope::inherit($child);
$parent->spawn(waits('parent'));
$child->spawn(waits('child'));
$grandchild->spawn(waits('grandchild'));
suspend();
$child->cancel(new Async\AsyncCancellation('given'));
suspend();
var_dump($parent->isCancelled(), $child->isCancelled(), $grandchild->isCancelled());
$parent->cancel();
suspend();
var_dump($parent->isCancelled());
?>
--EXPECT--
grandchild: given
child: given
bool(false)
bool(true)
bool(true)
parent: Scope was cancelled
bool(true)
