--TEST--
Pool: the circuit breaker
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Pool, CircuitBreakerState};
use function Async\{spawn, suspend, await};
$p = new Pool(fn() => 'r', max: 1);
tell(fn() => $p->getState()->name);
foreach (['deactivate', 'deactivate', 'recover', 'recover', 'activate', 'recover', 'deactivate', 'activate', 'activate'] as $setter) {
    $p->$setter();
    echo "$setter: ", $p->getState()->name, "\n";
}
echo "inactive\n";
$r = $p->acquire();
$w = spawn(function () use ($p) { tell(fn() => $p->acquire()); });
suspend();
$p->deactivate();
suspend();
tell(fn() => $p->acquire());
tell(fn() => $p->tryAcquire());
tell(fn() => $p->release($r));
tell(fn() => [$p->idleCount(), $p->getState() === CircuitBreakerState::INACTIVE]);
echo "recovering\n";
$p->recover();
tell(fn() => $p->acquire());
tell(fn() => $p->getState()->name);
$p->release('r');
tell(fn() => [is_subclass_of(Async\ServiceUnavailableException::class, Async\AsyncException::class), is_subclass_of(Async\ServiceUnavailableException::class, Async\PoolException::class)]);
echo "closed before inactive\n";
$p->deactivate();
$p->close();
tell(fn() => $p->acquire());
--EXPECT--
"ACTIVE"
deactivate: INACTIVE
deactivate: INACTIVE
recover: RECOVERING
recover: RECOVERING
activate: ACTIVE
recover: RECOVERING
deactivate: INACTIVE
activate: ACTIVE
activate: ACTIVE
inactive
Async\ServiceUnavailableException: Service is unavailable (circuit breaker is open)
Async\ServiceUnavailableException: Service is unavailable (circuit breaker is open)
null
null
[1,true]
recovering
"r"
"RECOVERING"
[true,false]
closed before inactive
Async\PoolException: Pool is closed
