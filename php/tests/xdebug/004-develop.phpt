--TEST--
Xdebug in mode develop: the stack of each coroutine, its depth, exceptions and cancellations in them
--SKIPIF--
<?php
require __DIR__ . "/with_xdebug.inc";
if (!has_xdebug()) die("skip there is no Xdebug");
?>
--FILE--
<?php
require __DIR__ . '/with_xdebug.inc';
$script = __DIR__ . '/004-develop-run.php';
file_put_contents($script, '<?php
use function Async\{await, spawn, suspend};
function depth() { suspend(); return xdebug_get_stack_depth(); }
function outer() { return depth(); }
function names() { suspend(); return array_column(xdebug_get_function_stack(), "function"); }
function fails() { suspend(); throw new LogicException("of a coroutine"); }
function waits() { Async\delay(10000); }
$a = spawn("outer");
$b = spawn(fn() => outer());
echo await($a), " ", await($b), " ", xdebug_get_stack_depth(), "\n";
echo preg_replace("~\{fiber:\w+\}~", "{fiber}", implode(" ", await(spawn("names")))), "\n";
try { await(spawn("fails")); } catch (LogicException $e) { echo $e->getMessage(), " ", xdebug_get_stack_depth(), "\n"; }
$c = spawn("waits");
suspend();
$c->cancel();
try { await($c); } catch (Cancellation $e) { echo $e->getMessage(), " ", xdebug_get_stack_depth(), "\n"; }
spawn("fails");
suspend();
');
echo preg_replace('~ +[\d.]+ +\d+ +(\d+\.)~', ' $1', run_with_xdebug('develop', $script));
?>
--CLEAN--
<?php unlink(__DIR__ . '/004-develop-run.php'); ?>
--EXPECTF--
3 4 1
{fiber} names
of a coroutine 1
Coroutine cancelled 1

Fatal error: Uncaught LogicException: of a coroutine in %s004-develop-run.php on line 6

LogicException: of a coroutine in %s004-develop-run.php on line 6

Call Stack:
 1. {fiber:%x}() %s004-develop-run.php:17
 2. fails() %s004-develop-run.php:0

status 255
