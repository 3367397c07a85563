--TEST--
Finished coroutines in cycles are collected, with what they hold
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

class Big { public $c; function __destruct() { echo "Big goes\n"; } }
// By its result, by its context, by a handler that never was due, by its exception.
$big = new Big();
$big->c = $c = spawn(fn() => $big);
await($c);
unset($big, $c);
gc_collect_cycles();
suspend();
suspend();
echo "result\n";

$big = new Big();
$big->c = $c = spawn(fn() => 1);
$c->getContext()->set('big', $big);
await($c);
unset($big, $c);
gc_collect_cycles();
suspend();
suspend();
echo "context\n";

$big = new Big();
$e = new class('x', $big) extends Exception { function __construct($m, public $big) { parent::__construct($m); } };
$big->c = $c = spawn(function () use ($e) { throw $e; });
try { await($c); } catch (Exception) {}
unset($big, $c, $e);
gc_collect_cycles();
suspend();
suspend();
echo "exception\n";
?>
--EXPECT--
Big goes
result
Big goes
context
Big goes
exception
