--TEST--
A collection inside coroutines is deferred, destructors may suspend
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn,await,suspend,delay};
class D { public $o; function __construct(public $n) {} function __destruct() { echo "{$this->n} start\n"; suspend(); echo "{$this->n} end\n"; } }
function cyc($a,$b) { $x = new D($a); $y = new D($b); $x->o = $y; $y->o = $x; }
await(spawn(function() { cyc('A','B'); var_dump(gc_collect_cycles()); suspend(); echo "next\n"; suspend(); suspend(); }));
cyc('E','F'); gc_collect_cycles(); echo "main end\n";
--EXPECT--
int(0)
A start
B start
next
A end
B end
main end
E start
F start
E end
F end
