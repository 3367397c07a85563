--TEST--
Scope: spawning into a closed one, isCancelled(), isClosed(), isFinished()
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, AsyncCancellation};
use function Async\{spawn, spawn_with, suspend, await, delay};
function state(Scope $s): void { echo json_encode(['cancelled' => $s->isCancelled(), 'closed' => $s->isClosed(), 'finished' => $s->isFinished()]), "\n"; }
foreach (['cancel', 'dispose', 'disposeSafely'] as $way) {
    echo "$way: empty\n";
    $s = new Scope();
    state($s);
    $s->$way();
    state($s);
    tell(fn() => $s->spawn(fn() => 1));
    tell(fn() => spawn_with($s, fn() => 1));
    $s->$way();
    echo "busy\n";
    $s = new Scope();
    $s->spawn(function () { try { turns(1); } finally { suspend(); } });
    suspend();
    state($s);
    $s->$way();
    state($s);
    tell(fn() => $s->spawn(fn() => 1));
    turns(4);
    state($s);
}
echo "a child of a cancelled one\n";
$p = new Scope();
$k = Scope::inherit($p);
$p->cancel();
state($k);
tell(fn() => $k->spawn(fn() => 1));
echo "inheriting from a cancelled one\n";
tell(function () use ($p) { $x = Scope::inherit($p); state($x); $x->spawn(fn() => 1); });
echo "a zombie spawns into its own scope\n";
$s = (new Scope())->allowZombies();
$s->spawn(function () { suspend(); tell(fn() => spawn(fn() => 1)); });
suspend();
$s->cancel();
turns(2);
echo "finished, not closed\n";
$s = new Scope();
await($s->spawn(fn() => 1));
state($s);
tell(fn() => await($s->spawn(fn() => 'still open')));
echo "busy below\n";
$p = new Scope();
$k = Scope::inherit($p);
$k->spawn(fn() => turns(2));
suspend();
state($p);
turns(3);
state($p);
echo "a coroutine cancels its own scope\n";
$s = new Scope();
$c = $s->spawn(function () use ($s) { $s->cancel(); state($s); echo "runs on\n"; tell(fn() => suspend()); });
turns(2);
state($s);
tell(fn() => $c->isCancelled());
--EXPECT--
cancel: empty
{"cancelled":false,"closed":false,"finished":true}
{"cancelled":true,"closed":true,"finished":true}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
Async\AsyncException: Cannot spawn a coroutine in a closed scope
busy
{"cancelled":false,"closed":false,"finished":false}
{"cancelled":true,"closed":false,"finished":false}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
{"cancelled":true,"closed":true,"finished":true}
dispose: empty
{"cancelled":false,"closed":false,"finished":true}
{"cancelled":true,"closed":true,"finished":true}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
Async\AsyncException: Cannot spawn a coroutine in a closed scope
busy
{"cancelled":false,"closed":false,"finished":false}
{"cancelled":true,"closed":false,"finished":false}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
{"cancelled":true,"closed":true,"finished":true}
disposeSafely: empty
{"cancelled":false,"closed":false,"finished":true}
{"cancelled":true,"closed":true,"finished":true}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
Async\AsyncException: Cannot spawn a coroutine in a closed scope
busy
{"cancelled":false,"closed":false,"finished":false}
{"cancelled":true,"closed":false,"finished":true}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
{"cancelled":true,"closed":true,"finished":true}
a child of a cancelled one
{"cancelled":true,"closed":true,"finished":true}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
inheriting from a cancelled one
{"cancelled":true,"closed":true,"finished":true}
Async\AsyncException: Cannot spawn a coroutine in a closed scope
a zombie spawns into its own scope
Async\AsyncException: Cannot spawn a coroutine in a closed scope
finished, not closed
{"cancelled":false,"closed":false,"finished":true}
"still open"
busy below
{"cancelled":false,"closed":false,"finished":false}
{"cancelled":false,"closed":false,"finished":true}
a coroutine cancels its own scope
{"cancelled":true,"closed":false,"finished":false}
runs on
Async\AsyncCancellation: Scope was cancelled
{"cancelled":true,"closed":true,"finished":true}
false
