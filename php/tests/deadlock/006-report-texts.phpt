--TEST--
The report names what each waits for
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await};
use Async\{Channel, Pool, Future, FutureState, TaskGroup};

$future = new Future(new FutureState());
$channel = new Channel(1);
spawn(function () use ($channel) { $channel->recv(); });
spawn(function () use ($future) { await($future); });
?>
--EXPECTF--
=== DEADLOCK REPORT START ===
Coroutines waiting: 2, active_events: 0
Coroutine %d
  spawn: %s006-report-texts.php:7
  suspend: %s006-report-texts.php:7
  waiting for:
    - Channel(capacity=1, receivers=1, senders=0, reserved=0/0)
Coroutine %d
  spawn: %s006-report-texts.php:8
  suspend: %s006-report-texts.php:8
  waiting for:
    - FutureState(pending)
=== DEADLOCK REPORT END   ===

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 2 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
