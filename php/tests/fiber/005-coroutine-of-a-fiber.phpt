--TEST--
Fiber::getCoroutine(): states, id, cancellation; a resume in the turn of the cancellation
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

suspend();
$f = new Fiber(function () {
    try { Fiber::suspend(); echo "never\n"; } finally { echo "unwinds\n"; }
});
$f->start();
$c = $f->getCoroutine();
var_dump($c::class, $c->getId() > 0, $c->isStarted(), $c->isSuspended(), $c->isCompleted());
$c->cancel();
suspend();
suspend();
var_dump($c->isCompleted(), $f->isTerminated());
try { $f->resume(); } catch (FiberError $e) { echo $e->getMessage(), "\n"; }

$f = new Fiber(function () { Fiber::suspend(); echo "never\n"; });
$f->start();
$f->getCoroutine()->cancel();
try {
    $f->resume();
    echo "returned\n";
} catch (FiberError $e) {
    echo "never: FiberError\n";
} catch (Cancellation $e) {
    echo "returned\n";
}
var_dump($f->isTerminated());
?>
--EXPECT--
string(15) "Async\Coroutine"
bool(true)
bool(true)
bool(true)
bool(false)
unwinds
bool(true)
bool(true)
Cannot resume a fiber that is not suspended
returned
bool(true)
