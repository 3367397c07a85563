--TEST--
Buffers left open are flushed at the end of their coroutine, whatever that end is
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await};

spawn(function () { ob_start(fn($b) => "[$b]"); echo "returned"; });
$c = spawn(function () { ob_start(fn($b) => "[$b]"); ob_start(); echo "cancelled"; delay(10000); });
$e = spawn(function () { ob_start(fn($b) => "[$b]"); echo "thrown"; throw new Exception('x'); });
try { await($e); } catch (Exception) {}
$c->cancel();
suspend();
suspend();
echo "\n";
ob_start();
echo "of main\n";
fopen('php://memory', 'r');
?>
--EXPECT--
[returned][thrown][cancelled]
of main
