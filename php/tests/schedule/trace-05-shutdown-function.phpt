--TEST--
Trace 5: what main has spawned runs before the shutdown functions, what they spawn after them
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\spawn;

register_shutdown_function(function () {
    echo "s1\n";
    spawn(function () { echo "t\n"; });
    echo "s2\n";
});
spawn(function () { echo "n\n"; });
echo "main\n";
?>
--EXPECT--
main
n
s1
s2
t
