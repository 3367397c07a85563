--TEST--
examples/php/worker_pool.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/worker_pool.php';
--EXPECT--
1 4 9 16 25 36 49 64 81 100
connections opened: 2
connection 1 closed
connection 2 closed
