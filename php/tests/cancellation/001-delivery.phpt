--TEST--
A cancellation is thrown at the call that waits, whatever it waits for
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await, await_all, timeout, iterate};
use Async\{Channel, Pool, Scope, TaskGroup, Future, FutureState, AsyncCancellation};

$pool = new Pool(fn() => 1, max: 1);
$pool->acquire();
$full = new Channel(1);
$full->sendAsync(1);
$scope = new Scope();
$scope->spawn(fn() => delay(10000));
$group = new TaskGroup(scope: new Scope());
$group->spawn(fn() => delay(10000));
$group->close();
$future = new Future(new FutureState());
foreach ([
    'suspend' => function () { while (true) suspend(); },
    'delay' => fn() => delay(10000),
    'await' => fn() => await($future),
    'await_all' => fn() => await_all([$future]),
    'await_all over an iterator' => fn() => await_all(new ArrayIterator([$future])),
    'timeout' => fn() => await(timeout(10000)),
    'recv' => fn() => (new Channel())->recv(),
    'send' => fn() => $full->send(2),
    'foreach' => function () { foreach (new Channel() as $x); },
    'acquire' => fn() => $pool->acquire(),
    'scope' => fn() => $scope->awaitCompletion(timeout(10000)),
    'group' => fn() => $group->awaitCompletion(),
    'iterate' => fn() => iterate([1], fn() => delay(10000)),
] as $name => $wait) {
    $c = spawn(function () use ($name, $wait) {
        try {
            $wait();
            echo "never\n";
        } catch (AsyncCancellation $e) {
            echo $name, ': ', $e->getMessage(), "\n";
            throw $e;
        }
    });
    suspend();
    suspend();
    $c->cancel($given = new AsyncCancellation("of $name"));
    try { await($c); } catch (AsyncCancellation $e) { if ($e !== $given) echo "another\n"; }
    if (!$c->isCancelled()) echo "not cancelled\n";
}
$scope->asNotSafely();
$scope->cancel();
$group->cancel();
?>
--EXPECT--
suspend: of suspend
delay: of delay
await: of await
await_all: of await_all
await_all over an iterator: of await_all over an iterator
timeout: of timeout
recv: of recv
send: of send
foreach: of foreach
acquire: of acquire
scope: of scope
group: of group
iterate: of iterate
