--TEST--
protect(): outside coroutines, a recorded cancellation drops the result, nothing more is recorded while one waits
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{protect, spawn, await, suspend};

var_dump(protect(fn() => 'outside'));
try {
    protect(function () { throw new DomainException('outside too'); });
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
$c = spawn(function () {
    $value = protect(function () { suspend(); echo "inside\n"; return 'lost'; });
    echo "never $value\n";
});
suspend();
$c->cancel(new Async\AsyncCancellation('first'));
$c->cancel(new Async\AsyncCancellation('second'));
var_dump($c->isCancellationRequested(), $c->isCancelled());
try { await($c); } catch (Cancellation $e) { echo $e->getMessage(), "\n"; }
var_dump($c->isCancelled(), $c->getResult());

// An error of the closure, with a cancellation recorded.
$c = spawn(function () {
    protect(function () { suspend(); throw new LogicException('of the closure'); });
});
suspend();
$c->cancel();
try { await($c); } catch (Throwable $e) {
    echo $e::class, $e->getPrevious() ? ' <- ' . $e->getPrevious()::class : '', "\n";
}
?>
--EXPECT--
string(7) "outside"
outside too
bool(true)
bool(false)
inside
first
bool(true)
NULL
Async\AsyncCancellation <- LogicException
