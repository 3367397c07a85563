--TEST--
exit() in main after coroutines have run: others do not go on
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () { try { delay(10000); echo "never\n"; } finally { echo "unwinds\n"; } });
suspend();
echo "exit\n";
exit(3);
?>
--EXPECTF--
exit
unwinds
shutdown
