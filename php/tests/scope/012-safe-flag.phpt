--TEST--
Scope: the safe flag governs cancel(), dispose() and destruction
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, AsyncCancellation};
use function Async\{spawn, suspend, await};
function work(Scope $s, string $name): void {
    $s->spawn(function () use ($name) {
        echo "$name starts\n";
        try { turns(2); echo "$name ends\n"; } catch (AsyncCancellation $e) { echo "$name: ", $e->getMessage(), "\n"; }
    });
}
$kinds = [
    'new Scope' => fn() => new Scope(),
    'new Scope, allowZombies' => fn() => (new Scope())->allowZombies(),
    'inherit from main' => fn() => Scope::inherit(),
    'inherit from main, asNotSafely' => fn() => Scope::inherit()->asNotSafely(),
    'inherit from a safe one' => function () use (&$safe) { $safe = (new Scope())->allowZombies(); return Scope::inherit($safe); },
    'inherit from one that is not' => function () use (&$other) { $other = new Scope(); return Scope::inherit($other); },
];
foreach ($kinds as $kind => $make) {
    foreach (['cancel', 'dispose', 'unset'] as $way) {
        echo "-- $kind, $way\n";
        $s = $make();
        work($s, 'started');
        suspend();
        work($s, 'not started');
        if ($way === 'unset') { unset($s); } else { $s->$way(); }
        turns(4);
    }
}
echo "-- disposeSafely makes zombies whatever the flag\n";
$s = new Scope();
work($s, 'started');
suspend();
work($s, 'not started');
$s->disposeSafely();
turns(4);
tell(fn() => [$s->isClosed(), $s->isCancelled(), $s->isFinished()]);
echo "-- the flag is copied at creation\n";
$p = new Scope();
$k = Scope::inherit($p);
$p->allowZombies();
work($k, 'child');
suspend();
$k->cancel();
turns(4);
--EXPECT--
-- new Scope, cancel
started starts
started: Scope was cancelled
-- new Scope, dispose
started starts
started: Scope was cancelled
-- new Scope, unset
started starts
started: Scope is being disposed due to object destruction
-- new Scope, allowZombies, cancel
started starts
started ends
-- new Scope, allowZombies, dispose
started starts
started ends
-- new Scope, allowZombies, unset
started starts
started ends
-- inherit from main, cancel
started starts
started ends
-- inherit from main, dispose
started starts
started ends
-- inherit from main, unset
started starts
started ends
-- inherit from main, asNotSafely, cancel
started starts
started: Scope was cancelled
-- inherit from main, asNotSafely, dispose
started starts
started: Scope was cancelled
-- inherit from main, asNotSafely, unset
started starts
started: Scope is being disposed due to object destruction
-- inherit from a safe one, cancel
started starts
started ends
-- inherit from a safe one, dispose
started starts
started ends
-- inherit from a safe one, unset
started starts
started ends
-- inherit from one that is not, cancel
started starts
started: Scope was cancelled
-- inherit from one that is not, dispose
started starts
started: Scope was cancelled
-- inherit from one that is not, unset
started starts
started: Scope is being disposed due to object destruction
-- disposeSafely makes zombies whatever the flag
started starts
started ends
[true,true,true]
-- the flag is copied at creation
child starts
child: Scope was cancelled
