--TEST--
Timeout: fresh, cancelled, fired; no direct construction
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{timeout, delay, await};

$t = timeout(1);
var_dump($t::class, $t instanceof Async\Completable, $t->isCompleted(), $t->isCancelled());
delay(5);  // letting the time pass does nothing
var_dump($t->isCompleted());
try { await($t); } catch (Async\TimeoutException $e) { echo $e->getMessage(), "\n"; }
var_dump($t->isCompleted(), $t->isCancelled());

$t = timeout(1000);
$t->cancel();
$t->cancel();
var_dump($t->isCompleted(), $t->isCancelled());
try {
    new Async\Timeout();
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
string(13) "Async\Timeout"
bool(true)
bool(false)
bool(false)
bool(false)
Timeout occurred after 1 milliseconds
bool(true)
bool(false)
bool(true)
bool(true)
Call to private Async\Timeout::__construct() from global scope
