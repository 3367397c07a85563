--TEST--
exit() in the callback of a failed future
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, delay};
use Async\Future;

register_shutdown_function(function () { echo "shutdown\n"; });
$f = Future::failed(new LogicException('x'))->ignore()->finally(function () { echo "exit\n"; exit(0); })->ignore();
delay(1000);
echo "never\n";
?>
--EXPECT--
exit
shutdown
