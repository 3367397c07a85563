--TEST--
Trace 1: coroutines run in spawn order after main
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\spawn;

echo "start\n";
foreach (['c1', 'c2', 'c3'] as $name) {
    spawn(function () use ($name) { echo "$name\n"; });
}
echo "end\n";
?>
--EXPECT--
start
end
c1
c2
c3
