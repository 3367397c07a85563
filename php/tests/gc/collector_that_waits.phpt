--TEST--
While the collector waits itself others call their functions as usual
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

class Held {
    public $self;
    public $stream;
    function __construct() { $this->self = $this; }
}
class Closing {
    public $context;
    function stream_open() { return true; }
    function stream_write($data) { return strlen($data); }
    function stream_flush() { echo "closing\n"; delay(2); echo "closed\n"; return true; }
    function stream_close() {}
}
class Destroyed {
    function __destruct() { echo "destructor\n"; suspend(); echo "destroyed\n"; }
}
stream_wrapper_register('closing', Closing::class);

function cycles(): void {
    $fiber = new Fiber(function () use (&$fiber) { try { Fiber::suspend(); } finally { delay(1); } });
    $fiber->start();
    $held = new Held;
    $held->stream = fopen('closing://x', 'w');
    fwrite($held->stream, 'x');
}
cycles();
gc_collect_cycles();
spawn(function () {  // begins while the collector waits, and ends after it
    array_map(fn() => delay(5), [1]);
    echo "other\n";
});
delay(20);
gc_collect_cycles();
suspend();
$object = new Destroyed;
unset($object);
echo "after unset\n";
array_map(fn($x) => $x, [1]);
?>
--EXPECT--
closing
closed
other
destructor
destroyed
after unset
