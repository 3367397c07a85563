--TEST--
Trace 38: what a failing iterator has produced never runs; only its exception is thrown
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_first_success, await_all};

final class Failing implements Iterator {
    private int $at = 0;
    public function __construct(private string $where) {}
    public function rewind(): void {}
    public function valid(): bool {
        if ($this->where === 'valid' && $this->at === 1) throw new LogicException('valid');
        return $this->at < 2;
    }
    public function current(): mixed {
        if ($this->where === 'current' && $this->at === 1) throw new LogicException('current');
        return spawn(function () { echo "never\n"; throw new Exception('never'); });
    }
    public function key(): mixed { return $this->at; }
    public function next(): void {
        if ($this->where === 'next') throw new LogicException('next');
        $this->at++;
    }
}

foreach (['current', 'next', 'valid'] as $where) {
    try {
        await_first_success(new Failing($where));
    } catch (LogicException $e) {
        echo $e->getMessage(), "\n";
    }
}

function generator() {
    yield spawn(function () { echo "never\n"; });
    throw new LogicException('generator');
}
try {
    await_all(generator());
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
suspend();
echo "end\n";
?>
--EXPECT--
current
next
valid
generator
end
