--TEST--
Scope::awaitAfterCancellation
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, Future, FutureState};
use function Async\{spawn, suspend, await, delay, timeout};
$s = new Scope();
echo "not cancelled\n";
tell(fn() => $s->awaitAfterCancellation());
echo "closed\n";
$s->cancel();
tell(fn() => $s->awaitAfterCancellation());
echo "waits for all, zombies too\n";
$s = (new Scope())->allowZombies();
$s->spawn(function () { turns(3); echo "zombie ends\n"; });
suspend();
$s->cancel();
tell(fn() => $s->awaitAfterCancellation());
echo "errors go to the handler, cancellations do not\n";
$s = new Scope();
foreach ([1, 2] as $i) { $s->spawn(function () use ($i) { try { delay(10000); } finally { throw new LogicException("E$i"); } }); }
$s->spawn(fn() => delay(10000));
suspend();
$s->cancel();
tell(fn() => $s->awaitAfterCancellation(errorHandler: function (Throwable $e, Scope $scope) use ($s) { echo $e::class, ' ', $e->getMessage(), $scope === $s ? " scope\n" : " OTHER\n"; }));
echo "without a handler it is thrown here\n";
$s = new Scope();
$s->spawn(function () { try { delay(10000); } finally { throw new LogicException('E'); } });
suspend();
$s->cancel();
tell(fn() => $s->awaitAfterCancellation());
echo "what the handler throws\n";
$s = new Scope();
$s->spawn(function () { try { delay(10000); } finally { throw new LogicException('E'); } });
suspend();
$s->cancel();
tell(fn() => $s->awaitAfterCancellation(fn() => throw new DomainException('handler')));
turns(3);
echo "from inside\n";
$s = (new Scope())->allowZombies();
$k = Scope::inherit($s);
$s->spawn(function () use ($s) { suspend(); tell(fn() => $s->awaitAfterCancellation()); });
$k->spawn(function () use ($s) { suspend(); tell(fn() => $s->awaitAfterCancellation()); });
suspend();
$s->cancel();
turns(3);
echo "the token\n";
$s = (new Scope())->allowZombies();
$s->spawn(function () { delay(10); echo "zombie ends\n"; });
suspend();
$s->cancel();
tell(fn() => $s->awaitAfterCancellation(null, timeout(1)));
tell(fn() => $s->awaitAfterCancellation(cancellation: new Future(new FutureState())));
echo "the waiter is cancelled\n";
$s = (new Scope())->allowZombies();
$s->spawn(function () { turns(5); });
suspend();
$s->cancel();
$w = spawn(function () use ($s) { tell(fn() => $s->awaitAfterCancellation()); });
suspend();
$w->cancel();
turns(6);
--EXPECT--
not cancelled
Async\AsyncException: Attempt to await a Scope that has not been cancelled
closed
null
waits for all, zombies too
zombie ends
null
errors go to the handler, cancellations do not
LogicException E1 scope
LogicException E2 scope
null
without a handler it is thrown here
LogicException: E
  previous Async\AsyncCancellation: Scope was cancelled
what the handler throws
DomainException: handler
from inside
Async\AsyncException: Cannot await completion of scope from a coroutine that belongs to the same scope or its children
Async\AsyncException: Cannot await completion of scope from a coroutine that belongs to the same scope or its children
the token
Async\OperationCanceledException: Operation has been cancelled
  previous Async\TimeoutException: Timeout occurred after 1 milliseconds
zombie ends
null
the waiter is cancelled
Async\AsyncCancellation: Coroutine cancelled
