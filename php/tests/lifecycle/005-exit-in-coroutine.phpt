--TEST--
exit() in a coroutine begins the shutdown
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () { echo "exit\n"; exit(3); });
try {
    delay(10000);
    echo "never\n";
} finally {
    echo "main unwinds\n";
}
echo "never\n";
?>
--EXPECT--
exit
main unwinds
shutdown
