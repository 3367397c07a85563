--TEST--
Traces inside a coroutine end at the coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

function thrower() { throw new Exception('x'); }
$c = spawn(function () { suspend(); thrower(); });
function waiter($c) {
    try {
        await($c);
    } catch (Exception $e) {
        echo $e->getTraceAsString(), "\n";
    }
}
waiter($c);
$d = spawn(function ($argument) { debug_print_backtrace(); }, 5);
suspend();
?>
--EXPECTF--
#0 %s010-traces-end-at-the-coroutine.php(5): thrower()
#1 [internal function]: {closure%S}()
#2 {main}
#0 [internal function]: {closure%S}(5)
