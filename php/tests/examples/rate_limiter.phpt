--TEST--
examples/php/rate_limiter.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/rate_limiter.php';
--EXPECT--
request 0
request 1
request 2
request 3
request 4
request 5
request 6
request 7
never more than three in 50 ms
