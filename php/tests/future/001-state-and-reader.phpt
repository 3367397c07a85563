--TEST--
FutureState and Future: completion, second completion, places
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState, AsyncException};
use function Async\{await, spawn};

$state = new FutureState();
$future = new Future($state);
var_dump($state->isCompleted(), $future->isCompleted(), $future->isCancelled());
var_dump($future->getAwaitingInfo(), $state->getAwaitingInfo());
var_dump($future->getCreatedFileAndLine() === [__FILE__, 5], $state->getCreatedLocation() === __FILE__ . ':5');
var_dump($future->getCompletedFileAndLine(), $future->getCompletedLocation());
spawn(function () use ($state) {
    $state->complete('value');
});
var_dump(await($future));
var_dump($future->isCompleted(), $state->isCompleted(), $future->getAwaitingInfo());
var_dump($future->getCompletedFileAndLine() === [__FILE__, 12], $state->getCompletedLocation() === __FILE__ . ':12');
foreach ([fn() => $state->complete(1), fn() => $state->error(new Exception())] as $second) {
    try {
        $second();
    } catch (AsyncException $e) {
        echo str_replace(__DIR__, 'DIR', $e->getMessage()), "\n";
    }
}
$other = new Future($state);
var_dump($other->await(), $future->await());
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
array(1) {
  [0]=>
  string(20) "FutureState(pending)"
}
array(1) {
  [0]=>
  string(20) "FutureState(pending)"
}
bool(true)
bool(true)
array(2) {
  [0]=>
  NULL
  [1]=>
  int(0)
}
string(7) "unknown"
string(5) "value"
bool(true)
bool(true)
array(1) {
  [0]=>
  string(22) "FutureState(completed)"
}
bool(true)
bool(true)
FutureState is already completed at DIR/001-state-and-reader.php:12
FutureState is already completed at DIR/001-state-and-reader.php:12
string(5) "value"
string(5) "value"
