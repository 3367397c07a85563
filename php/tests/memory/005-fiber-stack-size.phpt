--TEST--
fiber.stack_size counts when async.stack_size was not set
--EXTENSIONS--
true_async
--INI--
fiber.stack_size=1M
--FILE--
<?php
var_dump(Async\runtime_stats()['fiber_stack_size']);
Async\suspend();
var_dump(Async\runtime_stats()['fiber_stack_size']);
?>
--EXPECT--
int(1048576)
int(1048576)
