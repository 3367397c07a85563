--TEST--
Scope: who belongs to which
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Scope;
use function Async\{spawn, spawn_with, suspend, await, current_context, request_context};
function where(): string { return current_context()->find('name') ?? 'none'; }
current_context()->set('name', 'main');
$s = new Scope();
tell(fn() => await($s->spawn(function () { current_context()->set('name', 's'); return await(spawn(fn() => await(spawn(fn() => where())))); })));
echo "inherit\n";
$k = Scope::inherit();
tell(fn() => await($k->spawn(fn() => where())));
$k = Scope::inherit($s);
tell(fn() => await($k->spawn(fn() => where())));
tell(fn() => await($s->spawn(function () { $k = Scope::inherit(); return await($k->spawn(fn() => where())); })));
tell(fn() => await($s->spawn(function () { $k = Scope::inherit(parentScope: null); return await($k->spawn(fn() => where())); })));
echo "new Scope has no parent\n";
tell(fn() => await($s->spawn(function () { $k = new Scope(); return await($k->spawn(fn() => where())); })));
$k = new Scope();
tell(fn() => await($k->spawn(fn() => request_context())));
echo "arguments\n";
tell(fn() => await($s->spawn(fn(...$a) => $a, 1, 2, x: 3)));
tell(fn() => await($s->spawn(callable: fn() => 'named')));
echo "spawn_with\n";
tell(fn() => await(spawn_with($s, fn($a) => where() . $a, '!')));
$provider = new class($s) implements Async\ScopeProvider { function __construct(private $s) {} function provideScope(): ?Scope { return $this->s; } };
tell(fn() => await(spawn_with($provider, fn() => where())));
$none = new class implements Async\ScopeProvider { function provideScope(): ?Scope { return null; } };
tell(fn() => await(spawn_with($none, fn() => where())));
echo "children\n";
$p = new Scope();
$a = Scope::inherit($p);
$b = Scope::inherit($p);
$c = Scope::inherit($a);
tell(fn() => [$p->getChildScopes() === [$a, $b], $a->getChildScopes() === [$c], $c->getChildScopes()]);
unset($b);
tell(fn() => $p->getChildScopes() === [$a]);
--EXPECT--
"s"
inherit
"main"
"s"
"s"
"s"
new Scope has no parent
"none"
null
arguments
{"0":1,"1":2,"x":3}
"named"
spawn_with
"s!"
"s"
"main"
children
[true,true,[]]
true
