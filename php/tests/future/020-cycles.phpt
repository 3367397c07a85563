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
(function () { $p = new Probe('callback'); $s = new FutureState(); $p->held = [$s, (new Future($s))->map(fn() => $p)->ignore()]; })();
gc_collect_cycles(); suspend();
(function () { $p = new Probe('chain'); $s = new FutureState(); $p->held = [$s, (new Future($s))->map(fn() => 1)->catch(fn() => 2)->finally(fn() => $p)->ignore()]; })();
gc_collect_cycles(); suspend();
(function () { $p = new Probe('dropped branch'); $s = new FutureState(); $p->held = [$s]; (new Future($s))->map(fn() => 1)->ignore()->map(fn() => $p)->ignore(); })();
gc_collect_cycles(); suspend();
echo "kept while somebody waits or holds an end\n";
$state = new FutureState();
(function () use ($state) { $p = new Probe('held by the state'); $p->held = (new Future($state))->map(fn() => print("callback of $p->name\n"))->ignore(); })();
gc_collect_cycles(); suspend();
$state->complete(1);
suspend(); suspend();
gc_collect_cycles(); suspend();
$waiter = (function () { $p = new Probe('awaited'); $s = new FutureState(); $d = (new Future($s))->map(fn() => $p); $p->held = [$s, $d]; return [Async\spawn(fn() => Async\await($d)), WeakReference::create($s)]; })();
suspend();
gc_collect_cycles(); suspend();
$waiter[1]->get()->complete(1);
echo Async\await($waiter[0])->name, " was given\n";
$derived = (function () { $p = new Probe('end of a chain'); $s = new FutureState(); $p->held = $s; return [(new Future($s))->map(fn() => $p)->ignore(), WeakReference::create($s)]; })();
gc_collect_cycles(); suspend();
$derived[1]->get()->complete(1);
echo $derived[0]->await()->name, " was given\n";
unset($waiter, $derived);
gc_collect_cycles(); suspend();
echo "end\n";
--EXPECT--
value of a future gone
value of a state gone
state and future gone
future alone gone
error gone
callback gone
chain gone
dropped branch gone
kept while somebody waits or holds an end
callback of held by the state
held by the state gone
awaited was given
end of a chain was given
end of a chain gone
awaited gone
end
