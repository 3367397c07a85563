--TEST--
A cancellation comes instead of a value that was waiting; a running coroutine gets it at its next suspension
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, current_coroutine};
use Async\{Future, FutureState};

$future = new Future($state = new FutureState());
$c = spawn(function () use ($future) {
    try { var_dump(await($future)); } catch (Cancellation $e) { echo "instead of the value: ", $e->getMessage(), "\n"; }
    return 'goes on';
});
suspend();
$state->complete('value');
$c->cancel();
var_dump(await($c), await($future));

$c = spawn(function () {
    current_coroutine()->cancel();
    echo "still running\n";
    try { suspend(); } catch (Cancellation $e) { echo "at the suspension\n"; }
    suspend();
    return 'delivered once';
});
var_dump(await($c));
?>
--EXPECT--
instead of the value: Coroutine cancelled
string(7) "goes on"
string(5) "value"
still running
at the suspension
string(14) "delivered once"
