--TEST--
Trace 43: as 29 with a suspend() after each catch
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use function Async\{spawn, await, suspend};

$b = null;
$a = spawn(function () use (&$b) {
    try { await($b); } catch (Async\AsyncCancellation $e) { echo '1 ', $e->getMessage(), "\n"; }
    suspend();
    echo "1 ends\n";
});
$b = spawn(function () use ($a) {
    try { await($a); } catch (Async\AsyncCancellation $e) { echo '2 ', $e->getMessage(), "\n"; }
    suspend();
    echo "2 ends\n";
});
?>
--EXPECT--
1 Deadlock detected
2 Deadlock detected
1 ends
2 ends

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 2 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
