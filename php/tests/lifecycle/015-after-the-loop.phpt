--TEST--
Main ends, the rest runs in its natural order; coroutines may spawn others
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

spawn(function () {
    echo "a1\n";
    delay(2);
    echo "a2\n";
    spawn(function () { delay(1); echo "spawned by a\n"; });
});
spawn(function () { echo "b1\n"; suspend(); echo "b2\n"; });
register_shutdown_function(function () { echo "shutdown\n"; });
echo "main ends\n";
?>
--EXPECT--
main ends
a1
b1
b2
a2
spawned by a
shutdown
