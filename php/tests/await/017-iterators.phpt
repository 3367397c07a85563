--TEST--
await_* over iterators: every kind, keys, errors of each method, the walker's scope
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all, await_first_success, await_any_or_fail};

class Counting implements Iterator {
    private int $at = 0;
    public function __construct(private int $count, private string $fails = '') {}
    private function maybe(string $method): void {
        suspend();
        if ($this->fails === $method) throw new DomainException("of $method");
    }
    public function rewind(): void { $this->maybe('rewind'); $this->at = 0; }
    public function valid(): bool { $this->maybe('valid'); return $this->at < $this->count; }
    public function current(): mixed { $this->maybe('current'); return spawn(fn($n) => $n * 10, $this->at); }
    public function key(): mixed { $this->maybe('key'); return "k$this->at"; }
    public function next(): void { $this->maybe('next'); $this->at++; }
}
class Aggregate implements IteratorAggregate {
    public function __construct(private bool $fails = false) {}
    public function getIterator(): Iterator { if ($this->fails) throw new DomainException('of getIterator'); return new Counting(2); }
}
echo json_encode(await_all(new Counting(3))), "\n";
echo json_encode(await_all(new Aggregate())), "\n";
foreach (['rewind', 'valid', 'current', 'key', 'next'] as $method) {
    try {
        await_all(new Counting(2, $method));
        echo "never\n";
    } catch (DomainException $e) {
        echo $e->getMessage(), "\n";
    }
}
try { await_all(new Aggregate(true)); } catch (DomainException $e) { echo $e->getMessage(), "\n"; }
foreach ([1.5, true, [], new stdClass()] as $key) {
    try {
        await_all((function () use ($key) { yield $key => spawn(fn() => 1); })());
    } catch (Async\AsyncException $e) {
        echo get_debug_type($key), ': ', $e->getMessage(), "\n";
    }
}
echo json_encode(await_all((function () { yield 5 => spawn(fn() => 'a'); yield 'five' => spawn(fn() => 'b'); yield null => spawn(fn() => 'c'); })())), "\n";
// The caller's exception does not depend on what was complete already.
try {
    await_any_or_fail((function () { yield Async\Future::completed(1); throw new DomainException('of the generator'); })());
    echo "never\n";
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
[{"k0":0,"k1":10,"k2":20},[]]
[{"k0":0,"k1":10},[]]
of rewind
of valid
of current
of key
of next
of getIterator
float: Invalid key type: must be string, long or null
bool: Invalid key type: must be string, long or null
array: Invalid key type: must be string, long or null
stdClass: Invalid key type: must be string, long or null
[{"5":"a","five":"b","6":"c"},[]]
of the generator
