--TEST--
With a buffer open in main the echo of a coroutine reaches the output at once
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

ob_start();
echo "buffered in main\n";
spawn(function () { echo "plain\n"; });
suspend();
echo "more in main\n";
?>
--EXPECT--
plain
buffered in main
more in main
