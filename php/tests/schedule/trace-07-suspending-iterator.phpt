--TEST--
Trace 7: iterators that suspend are walked in a coroutine of their own
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

class Suspending implements Iterator {
    private int $i = 0;
    public function rewind(): void { suspend(); $this->i = 1; }
    public function valid(): bool { return $this->i <= 3; }
    public function current(): mixed {
        $i = $this->i;
        echo "cur$i ";
        return spawn(fn() => "r$i");
    }
    public function key(): mixed { return $this->i; }
    public function next(): void { suspend(); $this->i++; }
}
function generate() {
    for ($i = 1; $i <= 3; $i++) {
        suspend();
        echo "cur$i ";
        yield $i => spawn(fn() => "r$i");
    }
}
foreach ([new Suspending(), generate()] as $iterable) {
    spawn(function () {
        for ($i = 1; $i <= 5; $i++) {
            echo "P$i ";
            suspend();
        }
    });
    [$results] = await_all($iterable);
    echo json_encode($results), "\n";
}
?>
--EXPECT--
P1 P2 cur1 P3 cur2 P4 cur3 P5 {"1":"r1","2":"r2","3":"r3"}
P1 P2 cur1 P3 cur2 P4 cur3 P5 {"1":"r1","2":"r2","3":"r3"}
