--TEST--
await() of a coroutine alone does what it does with all its arguments
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\await;
use function Async\current_coroutine;
use function Async\spawn;
use function Async\suspend;

class Early implements Async\SpawnStrategy {
    public function __construct(private Closure $then) {}
    public function provideScope(): ?Async\Scope { return null; }
    public function beforeCoroutineEnqueue(Async\Coroutine $coroutine, Async\Scope $scope): array { ($this->then)($coroutine); return []; }
    public function afterCoroutineEnqueue(Async\Coroutine $coroutine, Async\Scope $scope): void {}
}

function outcome(Closure $body): string {
    try {
        return json_encode($body());
    } catch (Throwable $thrown) {
        return get_class($thrown) . ': ' . explode(': Coroutine ', $thrown->getMessage())[0];
    }
}

$ways = ['alone' => fn ($c) => await($c), 'with null' => fn ($c) => await($c, null)];
foreach ($ways as $name => $way) {
    echo "-- $name\n";
    echo 'running: ', outcome(fn () => $way(spawn(function () { suspend(); return 'late'; }))), "\n";
    $ended = spawn(fn () => ['value']);
    suspend();
    echo 'ended: ', outcome(fn () => $way($ended)), ', again ', outcome(fn () => $way($ended)), "\n";
    $failed = spawn(fn () => throw new LogicException('wrong'));
    echo 'failing: ', outcome(fn () => $way($failed)), ', again ', outcome(fn () => $way($failed)), "\n";
    $cancelled = spawn(function () { suspend(); });
    $cancelled->cancel();
    echo 'cancelled: ', outcome(fn () => $way($cancelled)), "\n";
    echo 'itself: ', outcome(fn () => await(spawn(fn () => $way(current_coroutine())))), "\n";
    echo 'ended, by one that is cancelled: ', outcome(fn () => await(spawn(function () use ($way, $ended) {
        current_coroutine()->cancel();
        try {
            return outcome(fn () => $way($ended));
        } finally {
            echo '(', outcome(fn () => $way($ended)), ') ';
        }
    }))), "\n";
    $waiter = spawn(function () use ($way) { $way(spawn(function () { suspend(); suspend(); suspend(); })); });
    suspend();
    $waiter->cancel();
    echo 'waiting, and cancelled: ', outcome(fn () => $way($waiter)), "\n";
    $two = [];
    $slow = spawn(function () { suspend(); return 'both'; });
    foreach ([1, 2] as $i) {
        $two[] = spawn(fn () => $way($slow) . $i);
    }
    echo 'two of them: ', outcome(fn () => array_map($way, $two)), "\n";
    Async\spawn_with(new Early(function ($coroutine) use ($way) {
        echo 'not spawned yet: ', outcome(function () use ($way, $coroutine) {
            $done = spawn(fn () => $way($coroutine));
            suspend();
            $done->cancel();
            return $done->isCompleted();
        }), "\n";
    }), fn () => 1);
    suspend();
}
?>
--EXPECT--
-- alone
running: "late"
ended: ["value"], again ["value"]
failing: LogicException: wrong, again LogicException: wrong
cancelled: Async\AsyncCancellation: Coroutine cancelled
itself: Async\AsyncException: a coroutine cannot await itself
ended, by one that is cancelled: (["value"]) "Async\\AsyncCancellation: Coroutine cancelled"
waiting, and cancelled: Async\AsyncCancellation: Coroutine cancelled
two of them: ["both1","both2"]
not spawned yet: false
-- with null
running: "late"
ended: ["value"], again ["value"]
failing: LogicException: wrong, again LogicException: wrong
cancelled: Async\AsyncCancellation: Coroutine cancelled
itself: Async\AsyncException: a coroutine cannot await itself
ended, by one that is cancelled: (["value"]) "Async\\AsyncCancellation: Coroutine cancelled"
waiting, and cancelled: Async\AsyncCancellation: Coroutine cancelled
two of them: ["both1","both2"]
not spawned yet: false
