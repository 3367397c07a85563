--TEST--
Trace 31: inside a coroutine a collection returns 0; destructors start at the next tick and end together
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};
class D { public $o; function __construct(public $n) {} function __destruct() { echo "$this->n start\n"; suspend(); echo "$this->n end\n"; } }
await(spawn(function () {
    $a = new D('A');
    $b = new D('B');
    $a->o = $b;
    $b->o = $a;
    unset($a, $b);
    var_dump(gc_collect_cycles());
    echo "at once\n";
    suspend();
    echo "next\n";
}));
?>
--EXPECT--
int(0)
at once
A start
B start
next
A end
B end
