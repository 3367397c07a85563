--TEST--
The report before the cancellations
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await};
use Async\{Future, FutureState};

$future = new Future($state = new FutureState());
spawn(function () use ($future) {
    await($future);
});
?>
--EXPECTF--

=== DEADLOCK REPORT START ===
Coroutines waiting: 1, active_events: 0
Coroutine %d
  spawn: %s002-report.php:6
  suspend: %s002-report.php:7
  waiting for:
    - FutureState(pending)
=== DEADLOCK REPORT END   ===

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 1 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
