--TEST--
An exception rests on the handle; later awaits get it without a fatal error
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$c = spawn(function () { throw new LogicException('kept'); });
suspend();
suspend();
echo "main goes on\n";
for ($i = 0; $i < 2; $i++) {
    try {
        await($c);
    } catch (LogicException $e) {
        echo $e->getMessage(), "\n";
    }
}
echo "end\n";
?>
--EXPECT--
main goes on
kept
kept
end
