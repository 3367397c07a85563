--TEST--
A fatal error in clean-up code ends the clean-up of the others
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, graceful_shutdown};

register_shutdown_function(function () { echo "shutdown\n"; });
foreach ([1, 2] as $n) {
    spawn(function () use ($n) {
        try {
            delay(10000);
        } finally {
            echo "$n cleans up\n";
            suspend();
            if ($n == 1) {
                eval('class Broken { function __clone(int $x) {} }');
            }
            echo "never\n";
        }
    });
}
suspend();
graceful_shutdown();
?>
--EXPECTF--
1 cleans up
2 cleans up

Fatal error: %s in %s on line %d
shutdown
