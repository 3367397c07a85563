--TEST--
getTrace() of a suspended coroutine; null when not started, running or finished
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend};

function inner() { suspend(); }
function outer($argument) { inner(); }
$c = spawn('outer', 7);
var_dump($c->getTrace());
suspend();
$trace = $c->getTrace();
foreach ($trace as $frame) {
    echo $frame['function'], isset($frame['line']) ? ':' . $frame['line'] : ' [internal]', "\n";
}
var_dump($trace[2]['args'] ?? null);
var_dump(count($c->getTrace(limit: 1)), isset($c->getTrace(DEBUG_BACKTRACE_IGNORE_ARGS)[2]['args']));
suspend();
var_dump($c->getTrace());
$self = spawn(function () use (&$self) { var_dump($self->getTrace()); });
?>
--EXPECT--
NULL
Async\suspend:4
inner:5
outer [internal]
array(1) {
  [0]=>
  int(7)
}
int(1)
bool(false)
NULL
NULL
