--TEST--
FutureState: completes once; the second time names the first place
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState, AsyncCancellation};
foreach ([fn($s) => $s->complete(1), fn($s) => $s->error(new LogicException('E')), fn($s) => (new Future($s))->cancel()] as $first) {
    $state = new FutureState();
    $first($state);
    foreach ([fn() => $state->complete(2), fn() => $state->error(new Exception('second'))] as $second) {
        try {
            $second();
            echo "nothing\n";
        } catch (Async\AsyncException $e) {
            echo $e::class, ' ', str_replace(__DIR__, 'DIR', $e->getMessage()), "\n";
        }
    }
    $future = new Future($state);
    tell(fn() => $future->await());
    $future->cancel(new AsyncCancellation('no effect'));
    tell(fn() => [$state->isCompleted(), $future->isCompleted(), $future->isCancelled()]);
    tell(fn() => [$future->getCompletedLocation() === $state->getCompletedLocation(), $state->getCompletedFileAndLine() === [__FILE__, 4]]);
}
--EXPECT--
Async\AsyncException FutureState is already completed at DIR/011-once.php:4
Async\AsyncException FutureState is already completed at DIR/011-once.php:4
1
[true,true,false]
[true,true]
Async\AsyncException FutureState is already completed at DIR/011-once.php:4
Async\AsyncException FutureState is already completed at DIR/011-once.php:4
LogicException: E
[true,true,false]
[true,true]
Async\AsyncException FutureState is already completed at DIR/011-once.php:4
Async\AsyncException FutureState is already completed at DIR/011-once.php:4
Async\AsyncCancellation: Future has been cancelled
[true,true,true]
[true,true]
