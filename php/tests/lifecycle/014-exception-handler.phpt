--TEST--
set_exception_handler() gets what nobody took, after everything has unwound
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

set_exception_handler(function (Throwable $e) { echo 'handler: ', $e::class, ' ', $e->getMessage(), "\n"; });
register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () { try { delay(10000); } finally { echo "unwinds\n"; } });
suspend();
spawn(function () { throw new LogicException('of a coroutine'); });
suspend();
echo "never\n";
?>
--EXPECT--
unwinds
handler: LogicException of a coroutine
shutdown
