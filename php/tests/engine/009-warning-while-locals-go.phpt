--TEST--
A warning of the engine while the locals of a coroutine's function go: reported as at the end of a function called by the script
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn};

class Wrapper {
    public $context;
    function stream_open() { return true; }
}
stream_wrapper_register('wrapper', 'Wrapper');
function leave_unwritten(): void {
    $stream = fopen('wrapper://x', 'w');
    stream_filter_append($stream, 'convert.base64-encode', STREAM_FILTER_WRITE);
    fwrite($stream, 'ab');  // the filter holds it back until the stream goes
}
leave_unwritten();
await(spawn('leave_unwritten'));
(new Fiber('leave_unwritten'))->start();
set_error_handler(function ($level, $message) {
    echo "$message\n";
    debug_print_backtrace();
    echo (new Exception)->getTraceAsString(), "\n";
});
await(spawn('leave_unwritten'));
?>
end
--EXPECTF--

Warning: main(): Wrapper::stream_write is not implemented! in %s009-warning-while-locals-go.php on line 14

Warning: main(): Wrapper::stream_write is not implemented! in Unknown on line 0

Warning: main(): Wrapper::stream_write is not implemented! in Unknown on line 0
main(): Wrapper::stream_write is not implemented!
#0 [internal function]: {closure%S}(2, 'main(): Wrapper...', '%s', %d)
#0 [internal function]: {closure%S}(2, 'main(): Wrapper...', '%s', %d)
#1 {main}
end
