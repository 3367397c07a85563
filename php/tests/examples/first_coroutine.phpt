--TEST--
examples/php/first_coroutine.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/first_coroutine.php';
--EXPECT--
main: nothing has run yet
in the coroutine
another coroutine runs in between
in the coroutine again
main: Hello, world
main caught: something went wrong
