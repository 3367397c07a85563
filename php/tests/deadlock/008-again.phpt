--TEST--
Who waits again after a deadlock is told of a deadlock again
--EXTENSIONS--
true_async
--INI--
async.debug_deadlock=0
--FILE--
<?php
use Async\Channel;
use function Async\spawn;

$channel = new Channel();
spawn(function () use ($channel) {
    foreach ([1, 2, 3] as $time) {
        try {
            $channel->recv();
        } catch (Async\AsyncCancellation $cancellation) {
            echo $time, ' ', $cancellation->getMessage(), "\n";
        }
    }
    echo "ends\n";
});
set_exception_handler(fn($error) => print($error::class . "\n"));
?>
--EXPECT--
1 Deadlock detected
2 Deadlock detected
3 Deadlock detected
ends
Async\DeadlockError
