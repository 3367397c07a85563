--TEST--
Pool: a strategy of the circuit breaker
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Pool, CircuitBreakerStrategy};
class Strategy implements CircuitBreakerStrategy {
    public bool $recovers = false;
    public int $asked = 0;
    function reportSuccess(mixed $source): void { echo 'success ', $source === $GLOBALS['p'] ? "pool\n" : "OTHER\n"; }
    function reportFailure(mixed $source, Throwable $error): void {
        echo 'failure ', $source === $GLOBALS['p'] ? 'pool ' : 'OTHER ', $error::class, ' ', $error->getMessage(), "\n";
        $source->deactivate();
    }
    function shouldRecover(): bool { $this->asked++; return $this->recovers; }
}
$good = true;
$p = new Pool(fn() => 'r', beforeRelease: function () use (&$good) { return $good; }, max: 1);
$s = new Strategy();
tell(fn() => $p->setCircuitBreakerStrategy($s));
$p->release($p->acquire());
tell(fn() => $s->asked);
$good = false;
$p->release($p->acquire());
tell(fn() => $p->getState()->name);
tell(fn() => $p->acquire());
tell(fn() => $s->asked > 0);
$s->recovers = true;
tell(fn() => $p->acquire());
tell(fn() => $p->getState()->name);
$good = true;
$p->release('r');
tell(fn() => $p->getState()->name);
echo "removed\n";
$p->setCircuitBreakerStrategy(null);
$p->release($p->acquire());
echo "beforeRelease that throws counts as a failure\n";
$p->activate();
$p = new Pool(fn() => 'r', beforeRelease: fn() => throw new LogicException('hook'), max: 1);
$p->setCircuitBreakerStrategy($s);
$p->release($p->acquire());
echo "one that throws\n";
class Throwing extends Strategy { function reportSuccess(mixed $source): void { throw new DomainException('strategy'); } }
$p = new Pool(fn() => 'r', max: 1);
$p->setCircuitBreakerStrategy(new Throwing());
tell(fn() => $p->release($p->acquire()));
tell(fn() => $p->idleCount());
--EXPECT--
null
success pool
0
failure pool Exception Resource validation failed
"INACTIVE"
Async\ServiceUnavailableException: Service is unavailable (circuit breaker is open)
true
"r"
"RECOVERING"
success pool
"RECOVERING"
removed
beforeRelease that throws counts as a failure
failure pool Exception Resource validation failed
one that throws
DomainException: strategy
1
