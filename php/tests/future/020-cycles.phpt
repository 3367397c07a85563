--TEST--
Future: cycles through futures, states and callbacks are collected
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\suspend;
class Probe { public $held; function __construct(public string $name) {} function __destruct() { echo "$this->name gone\n"; } }
(function () { $p = new Probe('value of a future'); $p->held = Future::completed($p)->ignore(); })();
gc_collect_cycles(); suspend();
(function () { $p = new Probe('value of a state'); $p->held = $s = new FutureState(); $s->ignore(); $s->complete($p); })();
gc_collect_cycles(); suspend();
(function () { $p = new Probe('state and future'); $s = new FutureState(); $s->complete($p); $p->held = [$s, (new Future($s))->ignore()]; })();
gc_collect_cycles(); suspend();
(function () { $p = new Probe('future alone'); $s = new FutureState(); $s->complete($p); $p->held = (new Future($s))->ignore(); })();
gc_collect_cycles(); suspend();
(function () { $e = new class('error') extends Exception { public $held; function __destruct() { echo "error gone\n"; } }; $e->held = Future::failed($e)->ignore(); })();
gc_collect_cycles(); suspend();
echo "end\n";
--EXPECT--
value of a future gone
value of a state gone
state and future gone
future alone gone
error gone
end
