--TEST--
Awaiters continue in the order they subscribed, behind what was queued
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

$c = spawn(function () { suspend(); suspend(); echo "c ends\n"; return 1; });
foreach ([1, 2, 3] as $i) {
    spawn(function () use ($c, $i) { await($c); echo "awaiter $i\n"; });
}
suspend();
suspend();
echo "main\n";
suspend();
echo "main again\n";
?>
--EXPECT--
main
c ends
main again
awaiter 1
awaiter 2
awaiter 3
