--TEST--
Main, coroutines, shutdown functions, global destructors
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

class D {
    public function __construct(private string $name) {}
    public function __destruct() {
        echo "destructor $this->name begins\n";
        suspend();
        spawn(function () { echo "spawned by a destructor\n"; });
        delay(1);
        echo "destructor $this->name ends\n";
    }
}
$global = new D('global');
register_shutdown_function(function () {
    $local = new D('in a shutdown function');
    spawn(function () { echo "spawned by a shutdown function\n"; });
    echo "shutdown function\n";
});
spawn(function () { delay(5); echo "coroutine\n"; });
echo "main\n";
?>
--EXPECT--
main
coroutine
shutdown function
destructor in a shutdown function begins
spawned by a shutdown function
spawned by a destructor
destructor in a shutdown function ends
destructor global begins
spawned by a destructor
destructor global ends
