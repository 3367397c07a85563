--TEST--
Scope: handlers, cancel, closing, destruction, children, awaitCompletion, spawn_with, finally of coroutines
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope,AsyncCancellation};
use function Async\{spawn,await,suspend,delay,timeout,spawn_with};
$s = new Scope;
$s->setExceptionHandler(function($sc,$c,$e) use ($s) { var_dump($sc === $s); echo "handler ", $e->getMessage(), "\n"; });
$s->spawn(function() { suspend(); throw new Exception("e1"); });
$s->spawn(function() { suspend(); suspend(); echo "n\n"; });
suspend(); suspend(); suspend();
$s->finally(fn($x) => print("finally ".get_class($x)."\n"));
$c = $s->spawn(function() { try { delay(1000); } catch (\Cancellation $e) { echo get_class($e), " ", $e->getMessage(), "\n"; throw $e; } });
suspend(); $s->cancel(); var_dump($s->isCancelled(), $s->isClosed());
try { $s->spawn(fn() => 1); } catch (Async\AsyncException $e) { echo $e->getMessage(), "\n"; }
$s->awaitAfterCancellation(); var_dump($s->isClosed());
suspend();
$t = new Scope; $t->spawn(function() { echo "t start\n"; try { delay(1000); } finally { echo "t finally\n"; } }); suspend(); unset($t); suspend(); 
$p = new Scope; $q = Scope::inherit($p); var_dump(count($p->getChildScopes()), $p->getChildScopes()[0] === $q);
$q->spawn(function() { throw new LogicException("up"); });
try { $p->awaitCompletion(timeout(1000)); } catch (LogicException $e) { echo "got ", $e->getMessage(), "\n"; }
spawn_with($p, fn() => print("with\n")); suspend();
$x = spawn(function() { echo "body\n"; }); $x->finally(fn($c) => print("f\n")); suspend(); echo "main\n";
echo "end\n";
--EXPECT--
bool(true)
handler e1
n
bool(true)
bool(false)
Cannot spawn a coroutine in a closed scope
Async\AsyncCancellation Scope was cancelled
finally Async\Scope
bool(true)
t start
t finally
int(1)
bool(true)
got up
with
body
f
main
end
