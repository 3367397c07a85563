--TEST--
A failure rests on the handle; when that is dropped unobserved it comes up as uncaught
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$held = spawn(function () { throw new LogicException('held'); });
suspend();
suspend();
foreach ([1, 2] as $n) {
    try { await($held); } catch (LogicException $e) { echo "$n ", $e->getMessage(), "\n"; }
}
unset($held);
suspend();
echo "observed: nothing happens\n";
$dropped = spawn(function () { throw new LogicException('dropped'); });
suspend();
unset($dropped);
suspend();
echo "never\n";
?>
--EXPECTF--
1 held
2 held
observed: nothing happens

Fatal error: Uncaught LogicException: dropped in %s016-dropped-handle.php:13
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s016-dropped-handle.php on line 13
