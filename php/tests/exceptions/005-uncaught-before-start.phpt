--TEST--
The same before the scheduler has started
--EXTENSIONS--
true_async
--FILE--
<?php
register_shutdown_function(function () { echo "shutdown\n"; });
echo "main\n";
throw new Async\AsyncCancellation('nobody');
?>
--EXPECT--
main
shutdown
