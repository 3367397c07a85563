--TEST--
Trace 30: scheduler off, destructors of a cycle run one after another and may suspend
--EXTENSIONS--
true_async
--FILE--
<?php
class D { public $o; function __construct(public $n) {} function __destruct() { echo "$this->n start\n"; Async\suspend(); echo "$this->n end\n"; } }
$a = new D('A');
$b = new D('B');
$a->o = $b;
$b->o = $a;
unset($a, $b);
var_dump(gc_collect_cycles());
?>
--EXPECT--
A start
A end
B start
B end
int(2)
