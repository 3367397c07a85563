--TEST--
A fatal error in what a shutdown function has spawned ends the request after its message
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

register_shutdown_function(function () {
    spawn(function () {
        suspend();
        eval('class Broken { function __clone(int $x) {} }');
    });
    spawn(function () { suspend(); suspend(); echo "never\n"; });
    echo "shutdown\n";
});
echo "main\n";
?>
--EXPECTF--
main
shutdown

Fatal error: %s in %s on line %d
