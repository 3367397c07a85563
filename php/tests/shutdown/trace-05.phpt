--TEST--
Trace 5: a shutdown function that spawns
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
register_shutdown_function(function () { echo "s1\n"; spawn(fn () => print("t\n")); echo "s2\n"; });
spawn(fn () => print("n\n"));
echo "main\n";
--EXPECT--
main
n
s1
s2
t
