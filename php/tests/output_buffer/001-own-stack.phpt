--TEST--
Output buffers, autoloading and comparators belong to their coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn,await,suspend,delay,await_all};
spl_autoload_register(function($c) { echo "load $c\n"; delay(2); eval("class $c { const X = 1; }"); });
ob_start(); echo "main buffered\n";
$a = spawn(function() { ob_start(); echo "A"; suspend(); echo "A2"; $x = ob_get_clean(); suspend(); return $x; });
$b = spawn(function() { echo "plain b\n"; ob_start(); echo "B"; suspend(); echo "B2"; return ob_get_clean(); });
var_dump(await($a), await($b));
$x = ob_get_clean(); echo "got: $x";
$r = await_all([spawn(fn() => Foo::X), spawn(fn() => Foo::X)]); print_r($r[0]); 
$s = fn($d) => spawn(function() use ($d) { $a = [3,1,2,5,4]; usort($a, function($p,$q) use ($d) { suspend(); return $d*($p<=>$q); }); return implode(',', $a); });
print_r(await_all([$s(1),$s(-1)])[0]);
spawn(function() { ob_start(); echo "flushed at end\n"; });
--EXPECT--
plain b
got: main buffered
string(3) "AA2"
string(3) "BB2"
load Foo
Array
(
    [0] => 1
    [1] => 1
)
Array
(
    [0] => 1,2,3,4,5
    [1] => 5,4,3,2,1
)
flushed at end
