--TEST--
Scope: nobody is responsible: graceful shutdown and a report, from a detached tree too
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, AsyncCancellation};
use function Async\{spawn, suspend, delay};
register_shutdown_function(fn() => print("shutdown function\n"));
spawn(function () { try { delay(10000); } catch (AsyncCancellation $e) { echo 'other: ', $e->getMessage(), "\n"; } });
$s = new Scope();
$s->spawn(function () { suspend(); throw new LogicException('nobody'); });
try {
    delay(10000);
} catch (AsyncCancellation $e) {
    echo 'main: ', $e->getMessage(), "\n";
}
echo "main ends\n";
--EXPECTF--
main: Graceful shutdown
main ends
other: Graceful shutdown

Fatal error: Uncaught LogicException: nobody in %s:7
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line 7
shutdown function
