--TEST--
ob_* act on the caller's stack, at any nesting and across suspensions
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all, await};

ob_start();
echo "main\n";
$work = fn($n) => spawn(function () use ($n) {
    $levels = [ob_get_level()];
    ob_start();
    echo "outer $n ";
    suspend();
    ob_start(fn($b) => strtoupper($b));
    echo "inner $n ";
    $levels[] = ob_get_level();
    suspend();
    ob_end_flush();
    $levels[] = ob_get_level();
    return implode(',', $levels) . ' ' . ob_get_clean();
});
$results = await_all([$work('a'), $work('b')])[0];
$level = ob_get_level();
$text = ob_get_clean();
echo json_encode($results), "\n", $level, ' ', $text;
var_dump(ob_get_level());
?>
--EXPECT--
["0,2,1 outer a INNER A ","0,2,1 outer b INNER B "]
1 main
int(0)
