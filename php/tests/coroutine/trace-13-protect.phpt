--TEST--
Trace 13: cancelled inside protect()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, protect};

$c = spawn(function () {
    protect(function () { suspend(); echo "p\n"; });
    echo "not reached\n";
    return 1;
});
suspend();
$c->cancel();
try {
    await($c);
} catch (Async\AsyncCancellation $e) {
    echo $e->getMessage(), "\n";
}
var_dump($c->getResult(), $c->isCancelled());
?>
--EXPECT--
p
Coroutine cancelled
NULL
bool(true)
