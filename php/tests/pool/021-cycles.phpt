--TEST--
Pool: cycles through callables, resources and the strategy are collected
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Pool, CircuitBreakerStrategy};
class Probe implements CircuitBreakerStrategy {
    public $held;
    function __construct(public string $name) {}
    function __destruct() { echo "$this->name gone\n"; }
    function make() { return 1; }
    function reportSuccess(mixed $source): void {}
    function reportFailure(mixed $source, Throwable $error): void {}
    function shouldRecover(): bool { return true; }
}
foreach (['factory', 'destructor', 'healthcheck', 'beforeAcquire', 'beforeRelease'] as $name) {
    (function () use ($name) { $p = new Probe($name); $p->held = new Pool(...['factory' => fn() => 1, $name => fn() => $p]); })();
    gc_collect_cycles(); Async\suspend();
}
(function () { $p = new Probe('method'); $p->held = new Pool([$p, 'make']); })();
gc_collect_cycles(); Async\suspend();
(function () { $p = new Probe('resource'); $p->held = new Pool(static fn() => new ArrayObject(), min: 1); $p->held->acquire()['x'] = $p; $p->held->release($p); })();
gc_collect_cycles(); Async\suspend();
(function () { $p = new Probe('strategy'); $p->held = new Pool(fn() => 1); $p->held->setCircuitBreakerStrategy($p); })();
gc_collect_cycles(); Async\suspend();
echo "end\n";
--EXPECT--
factory gone
destructor gone
healthcheck gone
beforeAcquire gone
beforeRelease gone
method gone
resource gone
strategy gone
end
