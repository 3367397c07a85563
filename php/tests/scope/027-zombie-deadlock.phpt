--TEST--
Scope: zombies count in the report of a deadlock
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use Async\{Scope, Channel};
use function Async\{spawn, suspend};
$c = new Channel();
$s = (new Scope())->allowZombies();
foreach ([1, 2] as $i) { $s->spawn(function () use ($c, $i) { try { $c->recv(); } catch (Throwable $e) { echo "$i: ", $e::class, ' ', $e->getMessage(), "\n"; throw $e; } }); }
suspend();
$s->dispose();
suspend();
echo "main ends\n";
--EXPECT--
main ends
1: Async\AsyncCancellation Deadlock detected
2: Async\AsyncCancellation Deadlock detected

Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 2 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
