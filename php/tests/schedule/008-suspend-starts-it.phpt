--TEST--
suspend() with nothing else to run returns at once, and the scheduler runs from then on
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{suspend, get_coroutines, current_coroutine};

class D { public $o; function __destruct() { echo "destructor\n"; suspend(); } }
var_dump(get_coroutines());
$d = new D();
unset($d);
var_dump(count(get_coroutines()), get_coroutines()[0] === current_coroutine());
$a = new stdClass();
$a->self = $a;
unset($a);
var_dump(gc_collect_cycles());  // deferred from now on
suspend();
var_dump(gc_status()['collected'] > 0);
?>
--EXPECT--
array(0) {
}
destructor
int(1)
bool(true)
int(0)
bool(true)
