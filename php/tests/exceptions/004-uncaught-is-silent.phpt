--TEST--
An uncaught cancellation ends the script without a word; shutdown functions run
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

register_shutdown_function(function () { echo "shutdown\n"; });
spawn(function () { throw new Async\AsyncCancellation('of its own'); });
suspend();
echo "main goes on\n";
$c = spawn(fn() => suspend());
suspend();
$c->cancel();
try {
    await($c);
} catch (Exception $e) {
    echo "no Exception\n";
}
echo "not reached\n";
?>
--EXPECT--
main goes on
shutdown
