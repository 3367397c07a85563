--TEST--
What is not isolated: globals, statics, ini_set, error handlers are the script's
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

function counter() { static $n = 0; return ++$n; }
$GLOBALS['g'] = 1;
await(spawn(function () { counter(); $GLOBALS['g']++; ini_set('precision', 5); $_GET['x'] = 'y'; setlocale(LC_ALL, 'C'); }));
var_dump(counter(), $g, ini_get('precision'), $_GET['x']);
?>
--EXPECT--
int(2)
int(2)
string(1) "5"
string(1) "y"
