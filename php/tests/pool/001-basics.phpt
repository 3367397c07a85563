--TEST--
Pool: turns, timeout, breaker, closing, wrong arguments, health check
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Pool;
use function Async\{spawn,await,suspend,delay};
$n = 0; $p = new Pool(function() use (&$n) { return "r".++$n; }, fn($r) => print("destroy $r\n"), min: 1, max: 1);
var_dump(count($p), $p->idleCount());
foreach (['A','B'] as $w) spawn(function() use ($p,$w) { for ($i=0;$i<3;$i++) { $r = $p->acquire(); echo "$w$i "; suspend(); $p->release($r); } });
delay(2); echo "\n";
$r = $p->acquire(); try { $p->acquire(5); } catch (Async\TimeoutException $e) { echo get_class($e), "\n"; } var_dump($p->tryAcquire()); $p->release($r);
$p->deactivate(); try { $p->acquire(); } catch (Async\ServiceUnavailableException $e) { echo $e->getMessage(), "\n"; } var_dump($p->getState()); $p->activate();
$p->close(); try { $p->acquire(); } catch (Async\PoolException $e) { echo $e->getMessage(), "\n"; }
try { new Pool(fn() => 1, min: -1); } catch (ValueError $e) { echo $e->getMessage(), "\n"; }
try { new Pool(fn() => throw new Exception("fac"), min: 1); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
$h = new Pool(fn() => new stdClass, healthcheck: fn($r) => false, min: 1, healthcheckInterval: 5); delay(12); echo count($h), "\n";
echo "end\n";
--EXPECT--
int(1)
int(1)
A0 B0 A1 B1 A2 B2 
Async\TimeoutException
NULL
Service is unavailable (circuit breaker is open)
enum(Async\CircuitBreakerState::INACTIVE)
destroy r1
Pool is closed
Async\Pool::__construct(): Argument #6 ($min) must be >= 0
fac
1
end
