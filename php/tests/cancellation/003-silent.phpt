--TEST--
Uncaught cancellations are silent, in coroutines and in main; shutdown functions still run
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () { throw new Async\AsyncCancellation('a'); });
spawn(function () { throw new Async\OperationCanceledException('b'); });
spawn(function () { throw new Cancellation('c'); });
spawn(function () { throw new class('d') extends Async\AsyncCancellation {}; });
suspend();
suspend();
echo "main goes on\n";
throw new Async\AsyncCancellation('of main');
?>
--EXPECT--
main goes on
shutdown
