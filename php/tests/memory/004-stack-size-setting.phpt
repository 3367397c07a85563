--TEST--
The stack size is that of the settings, also before the start
--EXTENSIONS--
true_async
--INI--
async.stack_size=1M
--FILE--
<?php
var_dump(Async\runtime_stats()['fiber_stack_size']);
Async\suspend();
var_dump(Async\runtime_stats()['fiber_stack_size']);
?>
--EXPECT--
int(1048576)
int(1048576)
