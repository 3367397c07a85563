--TEST--
Pool: a health check timer does not keep the process alive
--EXTENSIONS--
true_async
--FILE--
<?php
$p = new Async\Pool(fn() => 1, healthcheck: fn() => true, min: 1, healthcheckInterval: 5);
Async\spawn(fn() => print("coroutine\n"));
echo "end\n";
--EXPECT--
end
coroutine
