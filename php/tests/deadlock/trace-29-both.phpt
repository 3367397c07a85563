--TEST--
Trace 29: two coroutines await each other
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use function Async\{spawn, await};

$b = null;
$a = spawn(function () use (&$b) { echo "a\n"; await($b); echo "never\n"; });
$b = spawn(function () use ($a) { echo "b\n"; await($a); echo "never\n"; });
?>
--EXPECT--
a
b

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 2 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
