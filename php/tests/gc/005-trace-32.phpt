--TEST--
Trace 32: once the scheduler runs explicit collections print nothing; destructors run when main ends
--EXTENSIONS--
true_async
--FILE--
<?php
class D { public $o; function __construct(public $n) {} function __destruct() { echo "$this->n start\n"; Async\suspend(); echo "$this->n end\n"; } }
function cycle($x, $y) { $a = new D($x); $b = new D($y); $a->o = $b; $b->o = $a; }
cycle('A', 'B');
var_dump(gc_collect_cycles());
cycle('C', 'D');
var_dump(gc_collect_cycles(), gc_collect_cycles());
register_shutdown_function(function () { echo "shutdown\n"; });
echo "main ends\n";
?>
--EXPECT--
A start
A end
B start
B end
int(2)
int(0)
int(0)
main ends
C start
D start
C end
D end
shutdown
