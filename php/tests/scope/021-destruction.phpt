--TEST--
Scope: destroying the object cancels it
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, AsyncCancellation, TaskGroup};
use function Async\{spawn, suspend, await, delay};
$s = new Scope();
$s->spawn(function () { try { delay(10000); } catch (AsyncCancellation $e) { echo $e::class, ' ', $e->getMessage(), "\n"; } });
suspend();
unset($s);
echo "gone\n";
turns(2);
echo "the child goes with the parent\n";
$p = new Scope();
$k = Scope::inherit($p);
$k->spawn(function () { try { delay(10000); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; } });
suspend();
unset($p);
turns(2);
tell(fn() => $k->isCancelled());
echo "a group keeps its scope\n";
$g = new TaskGroup(scope: $s = new Scope());
unset($s);
$g->spawn(fn() => 'runs');
tell(fn() => await($g->all()));
echo "a cycle\n";
$s = new Scope();
$s->setExceptionHandler(fn() => $s);
$s->setChildScopeExceptionHandler(fn() => $s);
$s->finally(function () use ($s) { echo "handler of a cycle\n"; });
unset($s);
gc_collect_cycles();
turns(3);
echo "a temporary: the coroutine is cancelled before it runs\n";
tell(fn() => await((new Scope())->spawn(fn() => 'NEVER')));
echo "a constructor that fails\n";
tell(fn() => new Scope(1, 2));
echo "end\n";
--EXPECT--
gone
Async\AsyncCancellation Scope is being disposed due to object destruction
the child goes with the parent
Scope is being disposed due to object destruction
true
a group keeps its scope
["runs"]
a cycle
handler of a cycle
a temporary: the coroutine is cancelled before it runs
Async\AsyncCancellation: Scope is being disposed due to object destruction
a constructor that fails
ArgumentCountError: Async\Scope::__construct() expects exactly 0 arguments, 2 given
end
