--TEST--
iterate(): false stops, an exception cancels the others, an array is copied first
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{iterate, suspend, delay, spawn};

iterate([1, 2, 3, 4], function ($v) { echo "$v "; return $v != 2; });
echo "\n";
iterate([1, 2, 3, 4], function ($v) { echo "$v "; return $v == 2 ? 0 : null; });  // only false itself
echo "\n";
$array = [1, 2];
iterate($array, function ($v) use (&$array) { echo "$v "; $array[] = $v + 10; });
echo count($array), "\n";

try {
    iterate([1, 2, 3], function ($v) {
        try {
            for ($i = 0; $i < ($v == 1 ? 5 : 20); $i++) suspend();
            if ($v == 1) throw new LogicException('of 1');
            echo "never $v\n";
        } catch (Cancellation $e) {
            echo "$v cancelled\n";
            throw $e;
        }
    });
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
class Broken implements IteratorAggregate { function getIterator(): Iterator { throw new DomainException('of getIterator'); } }
try {
    iterate(new Broken(), fn() => print("never\n"));
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
foreach ([fn() => iterate(5, fn() => 1), fn() => iterate(new stdClass(), fn() => 1), fn() => iterate([], 'nothing'), fn() => iterate([])] as $wrong) {
    try { $wrong(); } catch (Error $e) { echo $e::class, "\n"; }
}
try {
    iterate((function () { yield 1; throw new DomainException('of the generator'); })(), fn($v) => print("$v "));
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
1 2 
1 2 3 4 
1 2 4
2 cancelled
3 cancelled
of 1
of getIterator
TypeError
TypeError
TypeError
ArgumentCountError
1 of the generator
