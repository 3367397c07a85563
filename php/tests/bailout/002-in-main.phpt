--TEST--
After a fatal error in main no coroutine runs
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () {
    echo "shutdown\n";
    suspend();
    spawn(function () { echo "spawned by it\n"; });
});
spawn(function () {
    try {
        suspend();
        suspend();
        echo "never\n";
    } finally {
        echo "never: finally\n";
    }
});
suspend();
eval('class Broken { function __clone(int $x) {} }');
?>
--EXPECTF--

Fatal error: %s in %s on line %d
shutdown
spawned by it
