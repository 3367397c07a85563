--TEST--
Another error while unwinding becomes the reported one, the earlier behind it
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

$other = spawn(function () { delay(10000); });
$other->finally(function () { throw new DomainException('second'); });
suspend();
spawn(function () { throw new LogicException('first'); });
delay(10000);
echo "never\n";
?>
--EXPECTF--

Fatal error: Uncaught LogicException: first in %s013-next-error.php:7
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}

Next DomainException: second in %s013-next-error.php:5
Stack trace:
#0 [internal function]: {closure%S}(Object(Async\Coroutine))
#1 {main}
  thrown in %s013-next-error.php on line 5
