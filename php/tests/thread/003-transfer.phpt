--TEST--
ThreadChannel: values are copied, some are refused
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{ThreadChannel, Future, FutureState};
enum Suit: string { case Hearts = 'h'; case Spades = 's'; }
class Plain { public $a = 1; protected $b = 2; private $c = 3; public ?Plain $next = null; public readonly int $r; public int $unset; public static $s = 9;
    function __construct() { echo "constructed\n"; $this->r = 7; } function bcr() { return [$this->b, $this->c, $this->r]; } }
class WithDestructor { public $x; function __destruct() { echo "destroyed\n"; } }
#[AllowDynamicProperties] class Dynamic { public $declared = 1; }
$c = new ThreadChannel(1);
function pass(mixed $value): mixed { global $c; $c->send($value); return $c->recv(); }
foreach ([null, true, 1, 1.5, 'text', [1, 'k' => [2]], []] as $value) { var_dump(pass($value) === $value); }
echo "objects\n";
$p = new Plain();
$q = pass($p);
var_dump($q !== $p, $q == $p, $q->bcr(), isset($q->unset));
tell(fn() => $q->unset);
$q->a = 5;
$p->a = 6;
var_dump($q->a, $p->a);
tell(fn() => $q->r = 1);
echo "identity and cycles\n";
$p->next = $p;
$q = pass([$p, $p, ['deep' => $p]]);
var_dump($q[0] === $q[1], $q[2]['deep'] === $q[0], $q[0]->next === $q[0], $q[0] !== $p);
$p->next = null;
echo "enums, handles\n";
var_dump(pass(Suit::Spades) === Suit::Spades, pass($c) === $c, pass([$c])[0] === $c);
echo "dynamic properties\n";
tell(fn() => pass((object) ['a' => 1]));
$d = new Dynamic();
var_dump(pass($d) == $d);
$d->more = 1;
tell(fn() => pass($d));
tell(fn() => pass([1, [$d]]));
var_dump(pass(new stdClass()) == new stdClass());
echo "a property table alone is fine\n";
$p = new Plain();
ob_start(); var_dump($p); (array) $p; foreach ($p as $_) {} ob_end_clean();
var_dump(pass($p) == $p);
echo "refused, and not buffered\n";
tell(fn() => pass(fopen('php://memory', 'r')));
$x = 1;
$array = [&$x];
tell(fn() => pass($array));
$deep = [];
for ($i = 0; $i < 600; $i++) { $deep = [$deep]; }
tell(fn() => pass($deep));
$list = null;
for ($i = 0; $i < 600; $i++) { $n = new WithDestructorless($list); $list = $n; }
class WithDestructorless { function __construct(public $next) {} }
tell(fn() => pass($list));
tell(fn() => pass(new ArrayObject()));
tell(fn() => pass(Future::completed()->ignore()));
tell(fn() => pass((function () { yield 1; })()));
tell(fn() => count($c));
$half = [new WithDestructor(), fopen('php://memory', 'r')];
tell(fn() => pass($half));
echo "exceptions\n";
$e = pass(new LogicException('message', 5, new DomainException('before')));
var_dump($e->getMessage(), $e->getCode(), $e->getPrevious()->getMessage());
echo "closures\n";
$captured = new Plain();
$counter = function ($by) use ($captured) { static $n = 0; $n += $by; $captured->a++; return [$n, $captured->a]; };
$counter(10);
$copy = pass($counter);
tell(fn() => [$copy(1), $copy(1), $counter(1), $captured->a]);
class Bound { public $v = 'bound'; function get() { return fn() => $this->v; } static function st() { return static fn() => self::class; } private function secret() { return 'secret'; } function callable() { return $this->secret(...); } }
tell(fn() => [pass((new Bound())->get())(), pass(Bound::st())(), pass((new Bound())->callable())(), pass(strtoupper(...))('x')]);
tell(fn() => pass(function () use (&$x) {}));
unset($half);
echo "end\n";
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
objects
constructed
bool(true)
bool(true)
array(3) {
  [0]=>
  int(2)
  [1]=>
  int(3)
  [2]=>
  int(7)
}
bool(false)
Error: Typed property Plain::$unset must not be accessed before initialization
int(5)
int(6)
Error: Cannot modify readonly property Plain::$r
identity and cycles
bool(true)
bool(true)
bool(true)
bool(true)
enums, handles
bool(true)
bool(true)
bool(true)
dynamic properties
Error: Cannot transfer object with dynamic properties between threads
bool(true)
Error: Cannot transfer object with dynamic properties between threads
Error: Cannot transfer object with dynamic properties between threads
bool(true)
a property table alone is fine
constructed
bool(true)
refused, and not buffered
Error: Cannot transfer a resource between threads
Error: Cannot transfer a PHP reference between threads
Error: Cannot transfer a value that is nested deeper than 512 levels between threads
Error: Cannot transfer a value that is nested deeper than 512 levels between threads
Error: Cannot transfer an object of class ArrayObject between threads
Error: Cannot transfer an object of class Async\Future between threads
Error: Cannot transfer an object of class Generator between threads
0
Error: Cannot transfer a resource between threads
exceptions
string(7) "message"
int(5)
string(6) "before"
closures
constructed
[[11,3],[12,4],[11,3],3]
["bound","Bound","secret","X"]
Error: Cannot transfer a PHP reference between threads
destroyed
end
