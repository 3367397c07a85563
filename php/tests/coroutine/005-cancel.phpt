--TEST--
cancel() in every state
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, delay, current_coroutine, protect};
use Async\AsyncCancellation;

function outcome(Async\Coroutine $c): void {
    try {
        var_dump(await($c));
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
echo "not started\n";
$c = spawn(fn() => print("never\n"));
$c->cancel();
outcome($c);

echo "suspended\n";
$c = spawn(function () {
    try {
        delay(10000);
    } catch (AsyncCancellation $e) {
        echo "thrown: ", $e->getMessage(), "\n";
        throw $e;
    }
});
suspend();
$c->cancel(new AsyncCancellation('mine'));
outcome($c);

echo "caught\n";
$c = spawn(function () {
    try { suspend(); } catch (AsyncCancellation) { return 'returned'; }
});
suspend();
$c->cancel();
outcome($c);
var_dump($c->isCancelled());

echo "itself\n";
$c = spawn(function () {
    current_coroutine()->cancel();
    echo "goes on\n";
    return 'dropped';
});
outcome($c);
var_dump($c->isCancelled(), $c->getResult());

echo "itself, then suspends\n";
$c = spawn(function () {
    current_coroutine()->cancel(new AsyncCancellation('self'));
    suspend();
    echo "not reached\n";
});
outcome($c);

echo "finished\n";
$c = spawn(fn() => 'stays');
suspend();
$c->cancel();
outcome($c);
var_dump($c->isCancelled());

echo "twice\n";
$c = spawn(fn() => suspend());
suspend();
$c->cancel(new AsyncCancellation('first'));
$c->cancel(new AsyncCancellation('second'));
outcome($c);

echo "wrong\n";
foreach (['text', new Exception('x')] as $wrong) {
    try {
        $c->cancel($wrong);
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
not started
Async\AsyncCancellation: Coroutine cancelled
suspended
thrown: mine
Async\AsyncCancellation: mine
caught
string(8) "returned"
bool(false)
itself
goes on
Async\AsyncCancellation: Coroutine cancelled
bool(true)
NULL
itself, then suspends
Async\AsyncCancellation: self
finished
string(5) "stays"
bool(false)
twice
Async\AsyncCancellation: first
wrong
Async\Coroutine::cancel(): Argument #1 ($cancellation) must be of type ?Async\AsyncCancellation, string given
Async\Coroutine::cancel(): Argument #1 ($cancellation) must be of type ?Async\AsyncCancellation, Exception given
