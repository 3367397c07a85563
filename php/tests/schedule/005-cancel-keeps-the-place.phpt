--TEST--
Cancelling a queued coroutine does not move it; one that waits goes to the tail
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

$queued = spawn(function () {
    try { suspend(); } finally { echo "queued\n"; }
});
$waiting = spawn(function () {
    try { delay(1000); } finally { echo "waiting\n"; }
});
suspend();
spawn(function () { echo "other\n"; });
$waiting->cancel();
$queued->cancel();
?>
--EXPECT--
queued
other
waiting
