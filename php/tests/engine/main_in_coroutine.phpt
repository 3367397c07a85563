--TEST--
async.test_main_in_coroutine: the script runs in a coroutine beside main, and ends as ever
--EXTENSIONS--
true_async
--INI--
async.test_main_in_coroutine=1
--FILE--
<?php
$global = 'kept';
function coroutines(): int { return count(Async\get_coroutines()); }
echo coroutines(), ' coroutines, ', $GLOBALS['global'], "\n";
var_dump(new stdClass());
debug_print_backtrace();
error_reporting(E_ALL & ~E_USER_NOTICE);
register_shutdown_function(function () {
    echo 'shutdown, ', error_reporting() & E_USER_NOTICE, "\n";
});
set_exception_handler(function (Throwable $e) {
    echo 'uncaught: ', $e->getMessage(), "\n";
});
ob_start(fn (string $text) => strtoupper($text));
echo "in a buffer\n";
throw new Exception('thrown');
?>
--EXPECT--
2 coroutines, kept
object(stdClass)#1 (0) {
}
IN A BUFFER
UNCAUGHT: THROWN
SHUTDOWN, 0
