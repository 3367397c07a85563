--TEST--
TaskGroup: cycles through results, errors, handlers and tasks are collected
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{TaskGroup, TaskSet, Scope};
use function Async\{await, suspend};
class Probe { public $held; function __construct(public string $name) {} function __destruct() { echo "$this->name gone\n"; } }
class Failure extends Exception { public $held; function __destruct() { echo "error gone\n"; } }
function turns() { for ($i = 0; $i < 4; $i++) { suspend(); } }
foreach ([TaskGroup::class, TaskSet::class] as $class) {
    echo "$class\n";
    (function () use ($class) { $p = new Probe('result'); $p->held = $g = new $class(); $g->spawn(fn() => $p); turns(); })();
    gc_collect_cycles(); turns();
    (function () use ($class) { $p = new Probe('handler'); $p->held = $g = new $class(); $g->finally(fn() => $p); })();
    gc_collect_cycles(); turns();
    (function () use ($class) { $e = new Failure(); $e->held = $g = new $class(); $g->spawn(function () use (&$e) { $x = $e; $e = null; throw $x; }); turns(); })();
    gc_collect_cycles(); turns();
}
echo "end\n";
--EXPECT--
Async\TaskGroup
result gone
handler gone
error gone
Async\TaskSet
result gone
handler gone
error gone
end
