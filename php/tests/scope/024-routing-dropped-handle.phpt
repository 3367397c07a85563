--TEST--
Scope: an exception that rests on a handle is reported when the handle goes
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\{spawn, suspend};
$s = new Scope();
$c = $s->spawn(fn() => throw new LogicException('rested'));
suspend();
echo "rests\n";
unset($c);
echo "dropped\n";
suspend();
echo "NOT REACHED\n";
--EXPECTF--
rests
dropped

Fatal error: Uncaught LogicException: rested in %s:5
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line 5
