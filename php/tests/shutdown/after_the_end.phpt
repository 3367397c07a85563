--TEST--
What PHP closes after the end of a script cannot use coroutines, and is told so
--EXTENSIONS--
true_async
--FILE--
<?php
class Late {
    public $context;
    function stream_open() { return true; }
    function stream_write($data) { return strlen($data); }
    function stream_close() {
        foreach ([fn() => Async\delay(1), fn() => Async\spawn(fn() => 1), fn() => Async\run_nothing()] as $use) {
            try {
                $use();
            } catch (Error $error) {
                echo $error->getMessage(), "\n";
            }
        }
        usleep(10);
        echo count(Async\get_coroutines()), " closed\n";
    }
}
stream_wrapper_register('late', Late::class);
$stream = fopen('late://x', 'w');
fwrite($stream, 'x');
echo "end\n";
?>
--EXPECT--
end
The script has ended: what is closed or saved only now cannot use coroutines
The script has ended: what is closed or saved only now cannot use coroutines
Call to undefined function Async\run_nothing()
0 closed
