--TEST--
A trace ends at the coroutine, whoever has resumed it
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

function thrower(int $n) { suspend(); throw new LogicException("level $n"); }
spawn(function () {
    spawn(function () {
        spawn('thrower', 3);
    });
});
?>
--EXPECTF--

Fatal error: Uncaught LogicException: level 3 in %s018-uncaught-in-a-nested-spawn.php:4
Stack trace:
#0 [internal function]: thrower(3)
#1 {main}
  thrown in %s018-uncaught-in-a-nested-spawn.php on line 4
