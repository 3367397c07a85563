--TEST--
@ silences the call behind it, not the coroutine or fiber that begins there
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn, suspend};

error_reporting(E_ALL & ~E_USER_NOTICE);
function complain(string $who): void
{
    trigger_error("$who: warning", E_USER_WARNING);
    trigger_error("$who: notice", E_USER_NOTICE);
}
$coroutine = @spawn(function () { complain('coroutine'); suspend(); complain('coroutine again'); });
@await($coroutine);
$fiber = new Fiber(fn () => complain('fiber'));
@$fiber->start();
@await(spawn(fn () => @complain('its own')));
?>
--EXPECTF--

Warning: coroutine: warning in %s

Warning: coroutine again: warning in %s

Warning: fiber: warning in %s
