--TEST--
A fatal error in an output callback that has waited: the buffers of others go out as ever
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { ob_start(); echo "shutdown\n"; ob_end_flush(); });
spawn(function () {
    ob_start();
    echo "lost\n";
    ob_start(function ($text) { suspend(); trigger_error('in the callback', E_USER_ERROR); });
    echo 'x';
    ob_end_flush();
});
spawn(function () { try { delay(1000); } finally { echo "never\n"; } });
spawn(function () { ob_start(); echo "of another\n"; delay(1000); });
delay(1000);
echo "never\n";
?>
--EXPECT--
of another
shutdown
