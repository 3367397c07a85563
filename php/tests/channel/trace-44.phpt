--TEST--
Trace 44: main alone on an empty channel
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException, AsyncCancellation, Pool};
use function Async\{spawn, suspend, await};
ini_set("async.debug_deadlock", 0);
try { (new Channel)->recv(); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; }
echo "after\n";
--EXPECT--
Deadlock detected
after

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 1 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
