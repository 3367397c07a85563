--TEST--
Trace 29: the same when both catch
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use function Async\{spawn, await};

$b = null;
$a = spawn(function () use (&$b) {
    try { await($b); } catch (Async\AsyncCancellation $e) { echo '1 ', $e::class, ' ', $e->getMessage(), "\n"; }
    echo "1 ends\n";
});
$b = spawn(function () use ($a) {
    try { await($a); } catch (Async\AsyncCancellation $e) { echo '2 ', $e::class, ' ', $e->getMessage(), "\n"; }
    echo "2 ends\n";
});
?>
--EXPECT--
1 Async\AsyncCancellation Deadlock detected
1 ends
2 Async\AsyncCancellation Deadlock detected
2 ends

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 2 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
