--TEST--
Scope::awaitCompletion
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, Future, FutureState};
use function Async\{spawn, suspend, await, delay, timeout};
function never(): Future { return new Future(new FutureState()); }
echo "nothing active\n";
$s = new Scope();
tell(fn() => $s->awaitCompletion(never()));
echo "waits for what comes later, here and below\n";
$s->spawn(function () use ($s) {
    suspend();
    spawn(function () { suspend(); echo "spawned later\n"; });
    $k = Scope::inherit();
    $k->spawn(function () use ($k) { turns(4); echo "child scope made later\n"; });
    turns(2);
    $GLOBALS['k'] = $k;
});
$s->awaitCompletion(never());
echo "done\n";
tell(fn() => $s->awaitCompletion(cancellation: never()));
echo "from inside\n";
await($s->spawn(fn() => tell(fn() => $s->awaitCompletion(never()))));
$k = Scope::inherit($s);
await($k->spawn(fn() => tell(fn() => $s->awaitCompletion(never()))));
await($s->spawn(fn() => tell(fn() => $k->awaitCompletion(never()))));
echo "the token\n";
$c = $s->spawn(function () { turns(30); delay(20); return 'goes on'; });
tell(fn() => $s->awaitCompletion(timeout(2)));
tell(fn() => $s->awaitCompletion(Future::completed()));
tell(fn() => [$s->isCancelled(), await($c)]);
echo "cancelled, busy\n";
$s = new Scope();
$s->spawn(function () { try { delay(10000); } finally { turns(2); } });
suspend();
$s->cancel();
tell(fn() => $s->awaitCompletion(never()));
await($k->spawn(fn() => 1));
turns(4);
echo "closed\n";
tell(fn() => $s->awaitCompletion(never()));
echo "cancelled while somebody waits\n";
$s = new Scope();
$s->spawn(fn() => delay(10000));
$w = spawn(function () use ($s) { tell(fn() => $s->awaitCompletion(never())); });
suspend();
$s->cancel();
turns(3);
echo "the waiter is cancelled\n";
$s = new Scope();
$s->spawn(fn() => delay(5));
$w = spawn(function () use ($s) { tell(fn() => $s->awaitCompletion(never())); });
suspend();
$w->cancel();
turns(2);
tell(fn() => $s->isCancelled());
echo "zombies do not hold it back\n";
$s = (new Scope())->allowZombies();
$s->spawn(function () { turns(5); echo "zombie ends\n"; });
suspend();
$w = spawn(function () use ($s) { tell(fn() => $s->awaitCompletion(never())); });
suspend();
$s->disposeSafely();
turns(7);
--EXPECT--
nothing active
null
waits for what comes later, here and below
spawned later
child scope made later
done
null
from inside
Async\AsyncException: Cannot await completion of scope from a coroutine that belongs to the same scope or its children
Async\AsyncException: Cannot await completion of scope from a coroutine that belongs to the same scope or its children
null
the token
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 2 milliseconds
Async\OperationCanceledException: Operation has been cancelled
[false,"goes on"]
cancelled, busy
Async\AsyncCancellation: The scope has been cancelled
closed
null
cancelled while somebody waits
Async\AsyncCancellation: The scope has been cancelled
  previous Async\AsyncCancellation: Scope was cancelled
the waiter is cancelled
Async\AsyncCancellation: Coroutine cancelled
false
zombies do not hold it back
Async\AsyncCancellation: The scope has been cancelled
  previous Async\AsyncCancellation: Scope was cancelled
zombie ends
