--TEST--
Declarations become global, *_once is shared by all coroutines and main
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$dir = __DIR__;
file_put_contents("$dir/002-a.inc.php", '<?php echo "a is run\n"; Async\suspend(); function of_a() { return "of a"; } class OfA { const X = 1; } const C_OF_A = 5; return "value";');
file_put_contents("$dir/002-b.inc.php", '<?php echo "b is run\n"; return "b";');
var_dump(await(spawn(fn() => require_once "$dir/002-a.inc.php")));
var_dump(of_a(), OfA::X, C_OF_A);
var_dump(require_once "$dir/002-a.inc.php");
var_dump(await(spawn(fn() => include_once "$dir/002-a.inc.php")));
require "$dir/002-b.inc.php";
var_dump(await(spawn(fn() => require_once "$dir/002-b.inc.php")));
var_dump(await(spawn(fn() => @include "$dir/no-such-file.php")));
?>
--CLEAN--
<?php foreach (['a', 'b'] as $n) @unlink(__DIR__ . "/002-$n.inc.php"); ?>
--EXPECT--
a is run
string(5) "value"
string(4) "of a"
int(1)
int(5)
bool(true)
bool(true)
b is run
bool(true)
bool(false)
