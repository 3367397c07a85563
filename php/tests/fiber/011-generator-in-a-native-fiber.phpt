--TEST--
A generator that stands still in one of PHP's own fibers when the script ends may not yield any more
--EXTENSIONS--
true_async
--FILE--
<?php
$numbers = (function () {
    try {
        Fiber::suspend();
    } finally {
        echo "finally\n";
        yield from ['one' => 1];
        echo "never\n";
    }
})();
$fiber = new Fiber(function () use ($numbers, &$fiber) { $numbers->current(); });
$fiber->start();
echo "end\n";
?>
--EXPECTF--
end
finally

Fatal error: Uncaught Error: Cannot use "yield from" in a force-closed generator in %s
%A
