--TEST--
Fibers suspended at the end are no deadlock; a timer or a signal wait is none either
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await};

suspend();
$f = new Fiber(function () { Fiber::suspend(); });
$f->start();
$g = new Fiber(function () { try { Fiber::suspend(); } finally { echo "closed\n"; } });
$g->start();
spawn(function () { delay(3); echo "timer\n"; });
echo "main ends\n";
?>
--EXPECT--
main ends
timer
closed
