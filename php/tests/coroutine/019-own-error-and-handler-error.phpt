--TEST--
Coroutine: finally(): nobody holds the coroutine: its own error is the first of one report, that of the handler the next
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};
(function () {
    $c = spawn(function () { suspend(); throw new LogicException("own"); });
    $c->finally(function () { echo "handler\n"; throw new DomainException("of the handler"); });
})();
register_shutdown_function(fn() => print("shutdown\n"));
suspend();
suspend();
suspend();
echo "never\n";
?>
--EXPECTF--
handler

Fatal error: Uncaught LogicException: own in %s:%d
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}

Next DomainException: of the handler in %s:%d
Stack trace:
#0 [internal function]: {closure%S}(Object(Async\Coroutine))
#1 {main}
  thrown in %s on line %d
shutdown
