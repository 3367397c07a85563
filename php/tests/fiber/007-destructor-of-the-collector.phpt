--TEST--
In a destructor that the collector runs there is no current fiber
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\suspend;

class D { public $o; function __destruct() { var_dump(Fiber::getCurrent()); } }
suspend();
$f = new Fiber(function () { $d = new D(); $d->o = $d; unset($d); gc_collect_cycles(); Fiber::suspend(); });
$f->start();
suspend();
suspend();
?>
--EXPECT--
NULL
