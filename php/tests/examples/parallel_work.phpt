--TEST--
examples/php/parallel_work.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/parallel_work.php';
--EXPECT--
Array
(
    [home] => HOME
    [news] => NEWS
    [about] => ABOUT
)
faster than one after another
first: QUICK
GOOD - broken cannot be fetched
