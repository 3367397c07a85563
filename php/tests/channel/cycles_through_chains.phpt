--TEST--
Channel: cycles through the chain behind recvAsync() are collected, and only when nobody can send any more
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, Future};
use function Async\suspend;

class Probe
{
    public function __construct(public string $name) {}
    public function __destruct() { echo "{$this->name} gone\n"; }
}

function collect(): void
{
    gc_collect_cycles();
    for ($i = 0; $i < 5; ++$i) {
        suspend();
    }
}

(function () {
    $probe = new Probe('map');
    $channel = new Channel(0);
    $channel->recvAsync()->map(fn() => [$channel, $probe])->ignore();
})();
collect();

(function () {
    $probe = new Probe('longer chain');
    $channel = new Channel(1);
    $channel->recvAsync()->map(fn() => 1)->map(fn() => 2)->map(fn() => [$channel, $probe])->ignore();
})();
collect();

(function () {
    $channel = new Channel(0);
    $channel->recvAsync()->catch(function ($e) use ($channel) {
        echo get_class($e), ' ', $e->reason->name, ' ', var_export($channel->isClosed(), true), "\n";
    })->ignore();
})();
collect();

echo "held by its future\n";
$future = (function (): Future {
    $probe = new Probe('held');
    $channel = new Channel(0);
    $future = $channel->recvAsync();
    $future->map(fn() => [$channel, $probe])->ignore();
    return $future;
})();
collect();
echo "let go\n";
unset($future);
collect();

echo "held by the script\n";
$channel = new Channel(0);
$channel->recvAsync()->map(function ($value) use ($channel) { echo "received $value\n"; })->ignore();
collect();
$channel->send('a value');
suspend();
$seen = WeakReference::create($channel);
$channel->recvAsync()->map(fn() => $channel)->ignore();
unset($channel);
collect();
var_dump($seen->get());
?>
--EXPECT--
map gone
longer chain gone
Async\ChannelException DISPOSED true
held by its future
let go
held gone
held by the script
received a value
NULL
