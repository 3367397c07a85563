--TEST--
getAwaitingInfo(): the texts for everything one can wait for
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await, await_all, timeout};
use Async\{Channel, Future, FutureState, Pool, TaskGroup};

$channel = new Channel(1);
$future = new Future($state = new FutureState());
$pool = new Pool(fn() => 1, max: 1);
$pool->acquire();
$group = new TaskGroup(scope: new Async\Scope());
$group->spawn(fn() => delay(10000));
$group->close();
$waits = [
    'delay' => fn() => delay(1234),
    'channel' => fn() => $channel->recv(),
    'future' => fn() => await($future),
    'pool' => fn() => $pool->acquire(),
    'group' => fn() => $group->awaitCompletion(),
    'timeout' => fn() => await(timeout(500)),
    'suspend' => fn() => suspend(),
    'all' => fn() => await_all([$future]),
];
$coroutines = array_map(fn($wait) => spawn($wait), $waits);
var_dump($coroutines['delay']->getAwaitingInfo());
suspend();
foreach ($coroutines as $name => $c) {
    echo $name, ': ', implode(' | ', $c->getAwaitingInfo()), "\n";
}
foreach ($coroutines as $c) $c->cancel();
$group->cancel();
suspend();
suspend();
echo "what is reserved for one who was woken\n";
[$first, $second] = [spawn(fn() => $channel->recv()), spawn(fn() => $channel->recv())];
suspend();
$channel->send(1);
echo $second->getAwaitingInfo()[0], "\n";
$pool = new Pool(fn() => 1, max: 1);
$resource = $pool->acquire();
[$third, $fourth] = [spawn(fn() => $pool->acquire()), spawn(fn() => $pool->acquire())];
suspend();
$pool->release($resource);
echo $fourth->getAwaitingInfo()[0], "\n";
$second->cancel();
$fourth->cancel();
foreach ($coroutines as $c) { if ($c->getAwaitingInfo() !== []) echo "never\n"; }
?>
--EXPECT--
array(0) {
}
delay: Timer(timeout=1234ms, once)
channel: Channel(capacity=1, receivers=1, senders=0, reserved=0/0)
future: FutureState(pending)
pool: Pool(idle=0, active=1, reserved=0, max=1)
group: TaskGroup(total=1, active=1)
timeout: Timer(timeout=500ms, once)
suspend: 
all: FutureState(pending)
what is reserved for one who was woken
Channel(capacity=1, receivers=1, senders=0, reserved=1/0)
Pool(idle=1, active=0, reserved=1, max=1)
