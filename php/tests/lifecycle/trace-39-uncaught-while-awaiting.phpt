--TEST--
Trace 39: x throws before main's await over an iterator returns
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

function generate() {
    for ($i = 0; $i < 3; $i++) {
        suspend();
        yield spawn(fn() => suspend());
    }
}
spawn(function () { echo "x\n"; throw new LogicException('E'); });
await_all(generate());
echo "never\n";
?>
--EXPECTF--
x

Fatal error: Uncaught LogicException: E in %strace-39-uncaught-while-awaiting.php:10
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %strace-39-uncaught-while-awaiting.php on line 10
