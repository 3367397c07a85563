--TEST--
Future::completed(), failed(), cancel()
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState, AsyncCancellation};

function outcome(Future $future): void {
    try {
        var_dump($future->await());
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
    echo json_encode([$future->isCompleted(), $future->isCancelled()]), "\n";
}
$c = Future::completed(5);
var_dump($c->getCreatedFileAndLine() === [__FILE__, 12], $c->getCompletedFileAndLine() === [__FILE__, 12]);
outcome($c);
outcome(Future::completed());
outcome(Future::failed(new LogicException('failed')));
outcome(Future::failed(new AsyncCancellation('as error')));
$future = new Future(new FutureState());
$future->cancel();
outcome($future);
$future->cancel(new AsyncCancellation('too late'));
outcome($future);
$state = new FutureState();
$future = new Future($state);
$future->cancel($mine = new AsyncCancellation('mine'));
outcome($future);
try {
    $state->complete(1);
} catch (Async\AsyncException $e) {
    echo substr($e->getMessage(), 0, 32), "\n";
}
?>
--EXPECT--
bool(true)
bool(true)
int(5)
[true,false]
NULL
[true,false]
LogicException: failed
[true,false]
Async\AsyncCancellation: as error
[true,true]
Async\AsyncCancellation: Future has been cancelled
[true,true]
Async\AsyncCancellation: Future has been cancelled
[true,true]
Async\AsyncCancellation: mine
[true,true]
FutureState is already completed
