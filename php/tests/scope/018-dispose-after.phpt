--TEST--
Scope::disposeAfterTimeout
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, AsyncCancellation};
use function Async\{spawn, suspend, await, delay};
$s = new Scope();
$s->spawn(function () { try { delay(10000); } catch (AsyncCancellation $e) { echo $e::class, "\n"; } });
$s->disposeAfterTimeout(10);
echo "returned\n";
tell(fn() => [$s->isCancelled(), $s->isClosed()]);
tell(fn() => await($s->spawn(fn() => 'usable until then')));
for ($i = 0; $i < 400 && !$s->isCancelled(); $i++) { delay(2); }
turns(2);
tell(fn() => [$s->isCancelled(), $s->isClosed()]);
tell(fn() => $s->spawn(fn() => 1));
echo "the scope goes before\n";
$s = new Scope();
$c = $s->spawn(function () { try { delay(10000); } catch (AsyncCancellation $e) { echo $e->getMessage(), "\n"; } });
suspend();
$s->disposeAfterTimeout(5);
unset($s);
turns(2);
delay(10);
echo "nothing in it: nothing happens\n";
$s = new Scope();
$s->disposeAfterTimeout(60000);
echo "end\n";
--EXPECT--
returned
[false,false]
"usable until then"
Async\AsyncCancellation
[true,true]
Async\AsyncException: Cannot spawn a coroutine in a closed scope
the scope goes before
Scope is being disposed due to object destruction
nothing in it: nothing happens
end
