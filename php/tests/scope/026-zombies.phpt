--TEST--
Scope: zombies suspend, fail and wait like any coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, Future, FutureState};
use function Async\{spawn, suspend, await, delay};
$s = (new Scope())->allowZombies();
$s->setExceptionHandler(fn($scope, $c, $e) => print('handler: ' . $e->getMessage() . "\n"));
$a = $s->spawn(function () { suspend(); delay(2); echo "zombie goes on\n"; return 'result'; });
$b = $s->spawn(function () { suspend(); throw new LogicException('a zombie fails'); });
suspend();
$s->dispose();
tell(fn() => [$s->isCancelled(), $s->isFinished(), $s->isClosed()]);
$w = spawn(function () use ($s) { tell(fn() => $s->awaitCompletion(new Future(new FutureState()))); });
turns(2);
tell(fn() => [$a->isCompleted(), $a->isCancelled(), $a->isCancellationRequested()]);
tell(fn() => await($a));
tell(fn() => [$s->isFinished(), $s->isClosed()]);
echo "a zombie can be cancelled by itself\n";
$s = (new Scope())->allowZombies();
$z = $s->spawn(function () { tell(fn() => delay(10000)); });
suspend();
$s->cancel();
suspend();
$z->cancel();
turns(2);
tell(fn() => $s->isClosed());
--EXPECT--
[true,true,false]
handler: a zombie fails
Async\AsyncCancellation: The scope has been cancelled
[false,false,false]
zombie goes on
"result"
[true,true]
a zombie can be cancelled by itself
Async\AsyncCancellation: Coroutine cancelled
true
