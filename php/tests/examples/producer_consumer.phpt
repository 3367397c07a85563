--TEST--
examples/php/producer_consumer.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/producer_consumer.php';
--EXPECT--
Ann eats apple 1
Bob eats apple 2
Ann eats apple 3
Bob eats pear 1
Ann eats pear 2
5 eaten
