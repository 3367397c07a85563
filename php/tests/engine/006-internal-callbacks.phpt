--TEST--
Suspending below internal functions: array_map, array_walk, preg_replace_callback, ob callbacks, iterators, __toString, serialize
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

class S implements JsonSerializable, ArrayAccess, Countable, IteratorAggregate {
    public function __construct(public string $n) {}
    public function __toString(): string { suspend(); return "str$this->n"; }
    public function jsonSerialize(): mixed { suspend(); return "json$this->n"; }
    public function __serialize(): array { suspend(); return [$this->n]; }
    public function __unserialize(array $d): void { suspend(); $this->n = $d[0] . '!'; }
    public function __get($name) { suspend(); return "$name$this->n"; }
    public function __call($name, $arguments) { suspend(); return "$name$this->n"; }
    public function offsetExists($o): bool { suspend(); return true; }
    public function offsetGet($o): mixed { suspend(); return "$o$this->n"; }
    public function offsetSet($o, $v): void { suspend(); }
    public function offsetUnset($o): void { suspend(); }
    public function count(): int { suspend(); return strlen($this->n); }
    public function getIterator(): Iterator { suspend(); return new ArrayIterator([$this->n]); }
}
$work = function (string $n) {
    $s = new S($n);
    return [
        implode(array_map(function ($x) use ($n) { suspend(); return "$x$n"; }, [1, 2])),
        implode(array_filter(['x', 'y'], function ($x) { suspend(); return $x == 'y'; })),
        array_reduce([1, 2], function ($c, $x) { suspend(); return $c . $x; }, $n),
        preg_replace_callback('/\d/', function ($m) use ($n) { suspend(); return $n; }, '1-2'),
        "$s", json_encode([$s]), unserialize(serialize($s))->n, $s->prop, $s->call(), $s['k'], count($s), implode(iterator_to_array($s)),
        call_user_func_array(function () use ($n) { suspend(); return func_get_args()[0] . $n; }, ['cufa']),
        (string) (new ReflectionFunction(function () use ($n) { suspend(); return $n; }))->invoke(),
    ];
};
foreach (await_all([spawn($work, 'a'), spawn($work, 'b')])[0] as $result) {
    echo implode(' ', $result), "\n";
}
?>
--EXPECT--
1a2a y a12 a-a stra ["jsona"] a! propa calla ka 1 a cufaa a
1b2b y b12 b-b strb ["jsonb"] b! propb callb kb 1 b cufab b
