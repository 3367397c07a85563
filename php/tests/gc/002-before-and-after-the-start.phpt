--TEST--
A collection before the scheduler runs is inline; afterwards all garbage is counted
--EXTENSIONS--
true_async
--FILE--
<?php
class D { public $o; function __construct(public $n) {} function __destruct() { echo "{$this->n} start\n"; Async\suspend(); echo "{$this->n} end\n"; } }
$x = new D('A'); $y = new D('B'); $x->o = $y; $y->o = $x; unset($x,$y); var_dump(gc_collect_cycles());
$x = new D('C'); unset($x); echo "after unset\n";
function cyc() { $a = new stdClass; $b = new stdClass; $a->b=$b; $b->a=$a; }
Async\await(Async\spawn(function() { for ($i=0;$i<4;$i++) { for ($j=0;$j<10000;$j++) cyc(); Async\delay(1); } var_dump(gc_status()['collected']); }));
--EXPECT--
A start
A end
B start
B end
int(2)
C start
C end
after unset
int(80002)
