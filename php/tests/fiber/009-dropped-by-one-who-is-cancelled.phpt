--TEST--
A fiber is dropped by a coroutine that was cancelled itself
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

$c = spawn(function () {
    $f = new Fiber(function () {
        try { Fiber::suspend(); } finally { suspend(); echo "fiber unwinds\n"; }
    });
    $f->start();
    delay(10000);
});
suspend();
suspend();
suspend();
$c->cancel();
suspend();
$c->cancel();
for ($i = 0; $i < 5; $i++) suspend();
echo "end\n";
?>
--EXPECT--
fiber unwinds
end
