<?php
// Values and exceptions reach whoever awaits, as often as they ask; deep calls suspend as well as shallow ones.
use function probe\{spawn, suspend, await};

function deep(int $n): int {
    if ($n == 0) {
        suspend();
        return 0;
    }
    return 1 + deep($n - 1);
}

$sum = spawn(fn() => array_sum(array_map(function ($n) { suspend(); return $n * $n; }, [1, 2, 3])));
$deep = spawn(fn() => deep(1000));
echo await($sum), ' ', await($deep), ' ', await($sum), "\n";

$failed = spawn(function () {
    try {
        suspend();
        throw new DomainException('from a coroutine');
    } finally {
        echo "finally\n";
    }
});
for ($i = 0; $i < 2; $i++) {
    try {
        await($failed);
    } catch (DomainException $e) {
        echo get_class($e), ': ', $e->getMessage(), ', line ', $e->getLine(), "\n";
    }
}

// Each coroutine has its own exception in flight.
$outer = spawn(function () {
    try {
        throw new LogicException('outer');
    } catch (LogicException $e) {
        suspend();
        throw new RuntimeException('again', 0, $e);
    }
});
$inner = spawn(function () {
    try {
        throw new RangeException('inner');
    } finally {
        suspend();
    }
});
foreach ([$outer, $inner] as $each) {
    try {
        await($each);
    } catch (Exception $e) {
        echo $e->getMessage(), ' <- ', $e->getPrevious()?->getMessage() ?? 'nothing', "\n";
    }
}

// A coroutine may spawn and await others.
echo await(spawn(function () {
    $parts = [];
    foreach (['x', 'y', 'z'] as $letter) {
        $parts[] = spawn(function () use ($letter) { suspend(); return $letter; });
    }
    return implode(array_map('probe\await', $parts));
})), "\n";

// Generators and native fibers live inside coroutines.
$generator = spawn(function () {
    $numbers = (function () { for ($i = 1; $i <= 3; $i++) { suspend(); yield $i; } })();
    return array_sum(iterator_to_array($numbers));
});
$fiber = spawn(function () {
    $fiber = new Fiber(function ($x) { return Fiber::suspend($x + 1) * 2; });
    $y = $fiber->start(1);
    suspend();
    $fiber->resume($y + 1);
    return $fiber->getReturn();
});
echo await($generator), ' ', await($fiber), "\n";

try {
    $self = spawn(function () use (&$self) { await($self); });
    await($self);
} catch (Error $e) {
    echo preg_replace('/:.*/', '', $e->getMessage()), "\n";
}
