--TEST--
At the end suspended fibers are closed silently; Fiber::suspend() in a finally block then is an error
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\suspend;

suspend();
$quiet = new Fiber(function () { try { Fiber::suspend(); echo "never\n"; } catch (Throwable) { echo "never\n"; } finally { echo "closed\n"; } });
$quiet->start();
$f = new Fiber(function () {
    try {
        Fiber::suspend();
    } finally {
        Fiber::suspend();
    }
});
$f->start();
echo "end\n";
?>
--EXPECTF--
end
closed

Fatal error: Uncaught FiberError: Cannot suspend in a force-closed fiber in %s006-force-closed.php:11
Stack trace:
#0 %s006-force-closed.php(11): Fiber::suspend()
#1 [internal function]: {closure%S}()
#2 {main}
  thrown in %s006-force-closed.php on line 11
