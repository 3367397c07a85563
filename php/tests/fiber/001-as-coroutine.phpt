--TEST--
Fibers are coroutines: interleaving, values, exceptions, closing, getCoroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn,await,suspend,delay,await_all};
$drv = fn($n) => spawn(function() use ($n) { $f = new Fiber(function() use ($n) { echo "$n-1\n"; Fiber::suspend(); echo "$n-2\n"; Fiber::suspend(); echo "$n-3\n"; return "r$n"; }); $f->start(); $f->resume(); $f->resume(); return $f->getReturn(); });
print_r(await_all([$drv('C1'),$drv('C2')])[0]);
$f = new Fiber(function($x) { try { $y = Fiber::suspend($x+1); echo "got $y\n"; Fiber::suspend(); } catch (Exception $e) { echo "ex ", $e->getMessage(), "\n"; } throw new LogicException("out"); });
var_dump($f->start(1)); $f->resume("Y"); var_dump($f->getCoroutine()->isSuspended(), $f->isSuspended());
try { $f->throw(new Exception("in")); } catch (LogicException $e) { echo $e->getMessage(), "\n"; }
try { $f->resume(); } catch (FiberError $e) { echo $e->getMessage(), "\n"; }
$g = new Fiber(function() { try { Fiber::suspend(); } finally { echo "closed\n"; } }); $g->start(); unset($g);
$h = new Fiber(function() { try { Fiber::suspend(); echo "no\n"; } finally { echo "closed at end\n"; } }); $h->start();
$k = new Fiber(function() { delay(2); echo "fiber delayed\n"; return await(spawn(fn() => 5)); }); $k->start(); var_dump($k->getReturn());
$c = new Fiber(function() { Fiber::suspend(); echo "never\n"; }); $c->start(); $c->getCoroutine()->cancel(); suspend(); try { $c->resume(); } catch (FiberError $e) { echo $e->getMessage(), "\n"; }
echo "end\n";
--EXPECT--
C1-1
C2-1
C1-2
C2-2
C1-3
C2-3
Array
(
    [0] => rC1
    [1] => rC2
)
int(2)
got Y
bool(true)
bool(true)
ex in
out
Cannot resume a fiber that is not suspended
closed
fiber delayed
int(5)
Cannot resume a fiber that is not suspended
end
closed at end
