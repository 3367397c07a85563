--TEST--
Scope: in the main scope a failure cancels only what has not started
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\{spawn, suspend};
spawn(function () { suspend(); suspend(); echo "started: goes on\n"; });
$c = spawn(fn() => throw new LogicException('held'));
spawn(function () { echo "NOT STARTED\n"; });
suspend();
suspend();
suspend();
echo get_class($c->getException()), "\n";
try { Async\await($c); } catch (LogicException $e) { echo $e->getMessage(), "\n"; }
--EXPECT--
started: goes on
LogicException
held
