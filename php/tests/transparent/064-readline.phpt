--TEST--
Transparent I/O: lines of readline() go whole to one coroutine after the other
--EXTENSIONS--
true_async
readline
--STDIN--
one
two
three
--FILE--
<?php
use function Async\{spawn, await_all};
[$lines] = await_all([spawn(fn() => readline()), spawn(fn() => readline()), spawn(fn() => readline())]);
echo json_encode(array_map('trim', $lines)), "\n";
?>
--EXPECTREGEX--
.*\["one","two","three"\]\s*
