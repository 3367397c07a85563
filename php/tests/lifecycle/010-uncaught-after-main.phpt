--TEST--
An error of what a shutdown function has spawned is reported as any other
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

register_shutdown_function(function () {
    spawn(function () { throw new LogicException('late'); });
    echo "shutdown\n";
});
echo "main\n";
?>
--EXPECTF--
main
shutdown

Fatal error: Uncaught LogicException: late in %s010-uncaught-after-main.php:5
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s010-uncaught-after-main.php on line 5
