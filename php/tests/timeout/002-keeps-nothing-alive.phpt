--TEST--
An unused timeout, or one left behind by a wait, does not keep the process alive
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{timeout, spawn, await};

$began = hrtime(true);
register_shutdown_function(function () use ($began) { var_dump(hrtime(true) - $began < 3e9); });
$unused = timeout(8000);
$token = timeout(8000);
var_dump(await(spawn(fn() => 1), $token));
?>
--EXPECT--
int(1)
bool(true)
