--TEST--
ThreadChannel: weak references and weak maps keep what is transferred with them
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\ThreadChannel;
class Node { public $a; public $b; function __construct($a = null, $b = null) { $this->a = $a; $this->b = $b; } }
class Loud { function __destruct() { echo "destroyed\n"; } }
$c = new ThreadChannel(1);
function pass(mixed $value): mixed { global $c; $c->send($value); return $c->recv(); }
echo "references\n";
$o = new Node();
$r = WeakReference::create($o);
var_dump(pass($r)->get());
[$x, $y] = pass([$r, $o]);
var_dump($x->get() === $y, $y !== $o);
[$x, $y] = pass([$o, $r]);
var_dump($y->get() === $x);
[$x, $y, $z] = pass([$r, $r, $o]);
var_dump($x === $y, $x === WeakReference::create($z));
unset($z);
var_dump($x->get(), $r->get() === $o);
$n = pass(new Node($r, new Node($o)));
var_dump($n->a->get() === $n->b->a);
$f = pass(function () use ($r, $o) { return $r->get() === $o; });
var_dump($f());
$dead = WeakReference::create(new Node());
var_dump(pass($dead)->get());
echo "what only a weak one knows is not copied\n";
$loud = new Loud();
$with_resource = new Node(fopen('php://memory', 'r'));
var_dump(pass([WeakReference::create($loud), WeakReference::create($with_resource)])[1]->get());
echo "maps\n";
$m = new WeakMap();
$m[$o] = 'held';
$p = new Node();
$m[$p] = 'not held';
var_dump(count(pass($m)));
[$x, $y] = pass([$m, $o]);
var_dump(count($x), $x[$y], isset($x[$o]));
[$x, $y] = pass([$o, $m]);
var_dump(count($y), $y[$x], count($m));
unset($x);
var_dump(count($y));
echo "nested ones\n";
$outer = new WeakMap();
$inner = new WeakMap();
$outer[$o] = $inner;
$inner[$p] = 'deep';
$outer[$p] = 'reached by the inner value';
[$x, $y] = pass([$outer, $o]);
var_dump(count($x), count($x[$y]));
[$x, $y, $z] = pass([$outer, $o, $p]);
var_dump(count($x), $x[$y][$z], $x[$z]);
$chain = new WeakMap();
$chain[$o] = $p;
$chain[$p] = 'end';
[$x, $y] = pass([$chain, $o]);
var_dump(count($x), $x[$x[$y]]);
$self = new WeakMap();
$self[$self] = 'itself';
$x = pass($self);
var_dump($x[$x]);
echo "refused\n";
$m[$o] = fopen('php://memory', 'r');
tell(fn() => pass([$m, $o]));
tell(fn() => count($c));
unset($loud);
echo "end\n";
?>
--EXPECT--
references
NULL
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
NULL
bool(true)
bool(true)
bool(true)
NULL
what only a weak one knows is not copied
NULL
maps
int(0)
int(1)
string(4) "held"
bool(false)
int(1)
string(4) "held"
int(2)
int(0)
nested ones
int(1)
int(0)
int(2)
string(4) "deep"
string(26) "reached by the inner value"
int(2)
string(3) "end"
string(6) "itself"
refused
Error: Cannot transfer a resource between threads
0
destroyed
end
