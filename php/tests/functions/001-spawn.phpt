--TEST--
spawn(): any callable, arguments by value and by name
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await};

function plain($a, $b = 2) { return "$a $b"; }
class Things {
    public static function stat($a) { return "static $a"; }
    public function method($a) { return "method $a"; }
    public function __invoke($a) { return "invoke $a"; }
    public function __call($name, $arguments) { return "$name(" . implode(', ', $arguments) . ')'; }
    public static function __callStatic($name, $arguments) { return "static $name(" . implode(', ', $arguments) . ')'; }
}
$things = new Things();
foreach ([
    spawn('plain', 1),
    spawn('plain', 1, 3),
    spawn('plain', b: 5, a: 4),
    spawn(plain(...), 6),
    spawn('Things::stat', 1),
    spawn(['Things', 'stat'], 2),
    spawn([$things, 'method'], 3),
    spawn($things, 4),
    spawn([$things, 'unknown'], 5, 6),
    spawn(['Things', 'unknown'], 7),
    spawn($things->magic(...), 8),
    spawn(fn(...$all) => implode('+', $all), 1, 2, 3),
    spawn('strtoupper', 'internal'),
] as $coroutine) {
    echo await($coroutine), "\n";
}
$value = 1;
await(spawn(function ($copy) { $copy++; }, $value));
var_dump($value);
?>
--EXPECT--
1 2
1 3
4 5
6 2
static 1
static 2
method 3
invoke 4
unknown(5, 6)
static unknown(7)
magic(8)
1+2+3
INTERNAL
int(1)
