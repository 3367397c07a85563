--TEST--
Scope: errors of a coroutine's finally handlers go to the scope's handler with that coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, CompositeException};
use function Async\{spawn, suspend, await};
$s = new Scope();
$s->setExceptionHandler(function ($scope, $c, $e) use ($s, &$owner) {
    echo $e::class, ' ', $e->getMessage(), ' ', json_encode([$scope === $s, $c === $owner]), "\n";
});
$owner = $s->spawn(fn() => 'well');
$owner->finally(fn() => throw new LogicException('from the handler'));
tell(fn() => await($owner));
turns(2);
$owner = $s->spawn(fn() => 'well');
foreach (['one', 'two'] as $m) { $owner->finally(fn() => throw new LogicException($m)); }
turns(3);
echo "up to the parent\n";
$k = Scope::inherit($s);
$owner = $k->spawn(fn() => 1);
$owner->finally(fn() => throw new LogicException('from below'));
turns(3);
--EXPECT--
LogicException from the handler [true,true]
"well"
Async\CompositeException 2 errors: one; two [true,true]
up to the parent
LogicException from below [true,true]
