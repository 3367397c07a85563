--TEST--
Scope::awaitCompletion: an exception of the scope is thrown there and nowhere else
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, Future, FutureState};
use function Async\{spawn, suspend, await, delay, timeout};
function never(): Future { return new Future(new FutureState()); }
$s = new Scope();
$error = new LogicException('E');
$s->spawn(function () { try { delay(10000); } finally { echo "the other is cancelled\n"; } });
$s->spawn(function () use ($error) { suspend(); throw $error; });
try { $s->awaitCompletion(never()); } catch (LogicException $e) { var_dump($e === $error); }
turns(3);
tell(fn() => [$s->isClosed(), $s->isCancelled()]);
echo "not closed by that\n";
tell(fn() => await($s->spawn(fn() => 'accepted')));
echo "several who wait\n";
$s = new Scope();
foreach ([1, 2] as $i) { spawn(function () use ($s) { tell(fn() => $s->awaitCompletion(never())); }); }
$s->spawn(function () { suspend(); throw new LogicException('for both'); });
turns(4);
echo "of a child scope\n";
$s = new Scope();
$k = Scope::inherit($s);
$k->spawn(fn() => throw new DomainException('from below'));
tell(fn() => $s->awaitCompletion(never()));
echo "with a handler the wait goes on\n";
$s = new Scope();
$s->setExceptionHandler(fn($scope, $c, $e) => print("handler {$e->getMessage()}\n"));
$s->spawn(fn() => throw new LogicException('handled'));
$s->spawn(function () { turns(2); echo "goes on\n"; });
tell(fn() => $s->awaitCompletion(never()));
echo "an awaiter of the coroutine takes it\n";
$s = new Scope();
$c = $s->spawn(function () { suspend(); throw new LogicException('awaited'); });
spawn(function () use ($c) { tell(fn() => await($c)); });
tell(fn() => $s->awaitCompletion(never()));
echo "end\n";
--EXPECT--
the other is cancelled
bool(true)
[false,false]
not closed by that
"accepted"
several who wait
LogicException: for both
LogicException: for both
of a child scope
DomainException: from below
with a handler the wait goes on
handler handled
goes on
null
an awaiter of the coroutine takes it
LogicException: awaited
null
end
