--TEST--
Deadlock: the error of one in a shutdown function shows no frame of the extension
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use Async\Channel;
use function Async\spawn;
register_shutdown_function(function () {
    spawn(fn() => (new Channel())->recv());
});
--EXPECTF--
Fatal error: Uncaught Async\DeadlockError: Deadlock detected: no active coroutines, 1 coroutines in waiting in [no active file]:0
Stack trace:
#0 {main}
  thrown in [no active file] on line 0
