--TEST--
Trace 37: a finally handler overtakes main, which was queued first
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

$c = spawn(function () { echo "c\n"; });
$c->finally(function () { echo "f\n"; });
suspend();
echo "main\n";
?>
--EXPECT--
c
f
main
