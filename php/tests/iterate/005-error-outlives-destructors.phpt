--TEST--
iterate(): its error is not lost when something that goes with it has a destructor that waits
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, ChannelException};
use function Async\{current_context, iterate, spawn, suspend};
class D {
    function __destruct() {
        $closed = new Channel();
        $closed->close();
        try { $closed->recv(); } catch (ChannelException $e) { echo "destructor: ", $e->getMessage(), "\n"; }
        suspend();
    }
}
spawn(function () {
    try {
        iterate([1], function () {
            current_context()->set('d', new D());
            throw new LogicException('of the callback');
        });
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
destructor: Channel is closed
LogicException: of the callback
