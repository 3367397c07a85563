--TEST--
Trace 46: a set with two slots
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet, AsyncCancellation, CompositeException};
use function Async\{spawn, suspend, await, protect, timeout, iterate};
$s = new TaskSet(2);
foreach ([1, 2] as $i) { $s->spawn(function () use ($i) { echo "{$i}s "; suspend(); echo "{$i}e "; }); }
$s->spawn(fn () => print("3s"));
$s->close();
$s->awaitCompletion();
--EXPECT--
1s 2s 1e 2e 3s
