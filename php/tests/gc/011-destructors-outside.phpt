--TEST--
Destructors outside the collector: unset() takes until the destructor is done, while others run
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, delay};

class D {
    public function __construct(private string $n) {}
    public function __destruct() {
        echo "$this->n begins\n";
        delay(2);
        $f = new Fiber(function () { Fiber::suspend('from a fiber'); });
        echo $f->start(), "\n";
        $f->resume();
        echo "$this->n ends\n";
    }
}
spawn(function () { echo "other 1\n"; suspend(); echo "other 2\n"; });
$d = new D('unset');
unset($d);
echo "after unset\n";
function local() { $d = new D('local'); echo "in the function\n"; }
local();
echo "after the function\n";
// An object whose coroutine was cancelled before it started is never made.
$c = spawn(function () { new D('never'); });
$c->cancel();
suspend();
register_shutdown_function(function () { $d = new D('in a shutdown function'); });
?>
--EXPECT--
unset begins
other 1
other 2
from a fiber
unset ends
after unset
in the function
local begins
from a fiber
local ends
after the function
in a shutdown function begins
from a fiber
in a shutdown function ends
