--TEST--
Channel with a buffer: stores while there is room, parks else; values and waiters in order of arrival
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Channel;
use function Async\{spawn, suspend, await, await_all};
$channel = new Channel(2);
foreach (['a', 'b', 'c', 'd'] as $value) {
    spawn(function () use ($channel, $value) {
        $channel->send($value);
        echo "sent $value, ", count($channel), $channel->isFull() ? " full\n" : "\n";
    });
}
suspend();
echo "main\n";
for ($i = 0; $i < 4; $i++) {
    echo 'received ', $channel->recv(), "\n";
    suspend();
}
echo "receivers wait\n";
foreach ([1, 2, 3] as $n) {
    spawn(function () use ($channel, $n) {
        echo "receiver $n got " . $channel->recv() . "\n";
    });
}
suspend();
foreach (['x', 'y', 'z'] as $value) {
    $channel->send($value);
}
suspend();
var_dump($channel->isEmpty());
--EXPECT--
sent a, 1
sent b, 2 full
main
received a
sent c, 2 full
received b
sent d, 2 full
received c
received d
receivers wait
receiver 1 got x
receiver 2 got y
receiver 3 got z
bool(true)
