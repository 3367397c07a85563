--TEST--
Trace 4: suspend() at top level with nobody else returns at once
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{suspend, delay, get_coroutines};

var_dump(count(get_coroutines()));
echo "1\n";
suspend();
echo "2\n";
delay(0);
echo "3\n";
var_dump(count(get_coroutines()));
?>
--EXPECT--
int(0)
1
2
3
int(1)
