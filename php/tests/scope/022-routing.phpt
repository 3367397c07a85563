--TEST--
Scope: exceptions find somebody responsible
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Scope, Coroutine};
use function Async\{spawn, suspend, await, delay};
function handler(string $name) {
    return function (Scope $scope, Coroutine $c, Throwable $e) use ($name) { echo "$name: ", $e->getMessage(), $scope === $GLOBALS['scopes'][$name] ? '' : ' OTHER SCOPE', "\n"; };
}
$scopes = [];
echo "the awaiter first\n";
$s = $scopes['s'] = new Scope();
$s->setExceptionHandler(handler('s'));
$c = $s->spawn(function () { suspend(); throw new LogicException('awaited'); });
tell(fn() => await($c));
echo "the scope's own handler; the others go on\n";
$s->spawn(function () use (&$failed) { throw new LogicException('one'); });
$s->spawn(function () { suspend(); echo "goes on\n"; });
turns(3);
tell(fn() => [$s->isClosed(), $s->isCancelled()]);
echo "replaced\n";
$s->setExceptionHandler(fn() => print("new handler\n"));
$s->spawn(fn() => throw new LogicException('two'));
turns(2);
echo "the handler gets the coroutine\n";
$s->setExceptionHandler(function ($scope, $c, $e) use (&$mine) { var_dump($c === $mine, $c->getException() === $e); });
$mine = $s->spawn(fn() => throw new LogicException('three'));
turns(2);
echo "up the tree: a handler for children goes first\n";
$p = $scopes['child handler'] = $scopes['own handler'] = new Scope();
$p->setExceptionHandler(handler('own handler'));
$k = Scope::inherit($p);
$k->spawn(fn() => throw new LogicException('from a child'));
turns(2);
$p->setChildScopeExceptionHandler(handler('child handler'));
$k->spawn(fn() => throw new LogicException('from a child'));
turns(2);
Scope::inherit($k)->spawn(fn() => throw new LogicException('from a grandchild, temporary scope'));
turns(2);
$g = Scope::inherit($k);
$g->spawn(fn() => throw new LogicException('from a grandchild'));
turns(2);
$p->spawn(fn() => throw new LogicException('own'));
turns(2);
echo "without a handler there the scope is cancelled on the way\n";
$k->spawn(function () { try { delay(10000); } finally { echo "cancelled with it\n"; } });
$p->spawn(function () { turns(3); echo "the parent's goes on\n"; });
suspend();
$k->spawn(fn() => throw new LogicException('one more'));
turns(4);
tell(fn() => [$k->isCancelled(), $k->isClosed(), $p->isCancelled()]);
tell(fn() => await($k->spawn(fn() => 'accepted')));
echo "a handler that throws replaces it\n";
$k->setExceptionHandler(fn($s, $c, $e) => throw new DomainException('instead of ' . $e->getMessage()));
$k->spawn(fn() => throw new LogicException('first'));
turns(2);
echo "it rests on the handle\n";
$s = new Scope();
$c = $s->spawn(fn() => throw new LogicException('rests'));
turns(2);
tell(fn() => await($c));
tell(fn() => await($c));
tell(fn() => $c->getException()->getMessage());
unset($c);
echo "cancellations are dropped\n";
$s->setExceptionHandler(fn() => print("NOT CALLED\n"));
$s->spawn(fn() => throw new Async\AsyncCancellation('quiet'));
turns(2);
echo "end\n";
--EXPECT--
the awaiter first
LogicException: awaited
the scope's own handler; the others go on
s: one
goes on
[false,false]
replaced
new handler
the handler gets the coroutine
bool(true)
bool(true)
up the tree: a handler for children goes first
own handler: from a child
child handler: from a child
child handler: from a grandchild
own handler: own
without a handler there the scope is cancelled on the way
child handler: one more
cancelled with it
the parent's goes on
[false,false,false]
"accepted"
a handler that throws replaces it
child handler: instead of first
it rests on the handle
LogicException: rests
LogicException: rests
"rests"
cancellations are dropped
end
