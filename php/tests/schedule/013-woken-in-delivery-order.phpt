--TEST--
Who is woken by an event is appended in the order of the deliveries
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};
use Async\{Future, FutureState};

$states = $futures = [];
foreach ([1, 2, 3] as $n) {
    $states[$n] = new FutureState();
    $futures[$n] = new Future($states[$n]);
    spawn(function () use ($n, &$futures) { await($futures[$n]); echo "woken $n\n"; });
}
suspend();
foreach ([2, 3, 1] as $n) {
    $states[$n]->complete($n);
}
spawn(function () { echo "spawned after\n"; });
suspend();
?>
--EXPECT--
woken 2
woken 3
woken 1
spawned after
