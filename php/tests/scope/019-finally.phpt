--TEST--
Scope::finally
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, CompositeException};
use function Async\{spawn, suspend, await, delay, current_coroutine};
echo "when it has ended, in order, with the scope; what disposes prints first\n";
$s = new Scope();
$c = $s->spawn(fn() => 1);
$s->finally(function ($scope) use ($s) { echo 'first ', $scope === $s ? "scope\n" : "OTHER\n"; });
$s->finally(function () { echo "second\n"; suspend(); echo "it may suspend\n"; });
$s->finally(fn() => print("third\n"));
await($c);
turns();
echo "the end of the last coroutine is not enough\n";
$s->dispose();
echo "disposed\n";
turns();
echo "once\n";
$s->dispose();
turns();
echo "already ended: at once\n";
$s->finally(fn($scope) => print(get_class($scope) . "\n"));
echo "after\n";
tell(fn() => $s->finally(fn() => throw new LogicException('out of it')));
echo "busy: after the last coroutine\n";
$s = new Scope();
$s->spawn(function () { try { delay(10000); } finally { suspend(); echo "coroutine ends\n"; } });
$s->finally(fn() => print("handler\n"));
suspend();
$s->cancel();
turns(5);
echo "goes out of use\n";
$s = new Scope();
$s->finally(fn($scope) => print(get_class($scope) . " handler\n"));
unset($s);
turns();
echo "at the head of the queue\n";
$s = new Scope();
$s->finally(fn() => print("handler\n"));
spawn(fn() => print("queued before\n"));
$s->cancel();
turns();
echo "one that throws\n";
$s = new Scope();
$s->setExceptionHandler(fn($scope, $c, $e) => print('handler ' . $e::class . ' ' . $e->getMessage() . "\n"));
$s->finally(fn() => throw new LogicException('one'));
$s->cancel();
turns();
echo "two that throw\n";
$s = new Scope();
$s->setExceptionHandler(fn($scope, $c, $e) => print('handler ' . $e::class . ' ' . implode(' ', array_map(fn($x) => $x->getMessage(), $e->getExceptions())) . "\n"));
foreach (['one', 'two'] as $m) { $s->finally(fn() => throw new LogicException($m)); }
$s->cancel();
turns();
--EXPECT--
when it has ended, in order, with the scope; what disposes prints first
the end of the last coroutine is not enough
disposed
first scope
second
it may suspend
third
once
already ended: at once
Async\Scope
after
LogicException: out of it
busy: after the last coroutine
coroutine ends
handler
goes out of use
Async\Scope handler
at the head of the queue
handler
queued before
one that throws
handler LogicException one
two that throw
handler Async\CompositeException one two
