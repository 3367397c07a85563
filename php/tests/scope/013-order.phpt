--TEST--
Scope: order of a cancellation: child scopes first, then own coroutines in spawn order; the queue keeps its order
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, AsyncCancellation, Channel};
use function Async\{spawn, suspend, await, delay};
$s = new Scope();
$child = Scope::inherit($s);
$grandchild = Scope::inherit($child);
$park = function ($n) { return function () use ($n) { try { delay(10000); } catch (AsyncCancellation $e) { echo "$n\n"; $GLOBALS['seen'][] = $e; } }; };
foreach ([1, 2] as $i) { $s->spawn($park("own $i")); }
$child->spawn($park('child'));
$grandchild->spawn($park('grandchild'));
$s->spawn($park('own 3'));
suspend();
$mine = new AsyncCancellation('shared');
$s->cancel($mine);
turns(2);
tell(fn() => array_map(fn($e) => $e === $mine, $seen));
tell(fn() => [$s->isCancelled(), $child->isCancelled(), $grandchild->isCancelled()]);
echo "never upwards or sideways\n";
$p = new Scope();
$a = Scope::inherit($p);
$b = Scope::inherit($p);
$c = $b->spawn($park('sibling'));
$a->spawn($park('cancelled'));
suspend();
$a->cancel();
turns(2);
tell(fn() => [$p->isCancelled(), $a->isCancelled(), $b->isCancelled(), $c->isCompleted()]);
echo "one coroutine does not cancel its scope\n";
$c->cancel();
turns(2);
tell(fn() => [$b->isCancelled(), $b->isClosed(), $b->isFinished()]);
echo "those in the queue keep their place\n";
$s = new Scope();
$s->spawn(function () { try { suspend(); } catch (AsyncCancellation $e) { echo "first\n"; } });
spawn(function () { suspend(); echo "between\n"; });
$s->spawn(function () { try { suspend(); } catch (AsyncCancellation $e) { echo "second\n"; } });
suspend();
$s->cancel();
turns(2);
--EXPECT--
grandchild
child
own 1
own 2
own 3
[true,true,true,true,true]
[true,true,true]
never upwards or sideways
cancelled
[false,true,false,false]
one coroutine does not cancel its scope
sibling
[false,false,true]
those in the queue keep their place
first
between
second
