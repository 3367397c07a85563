--TEST--
Future: places of creation and completion
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
function show($f, int $created, int $completed): void {
    $here = __FILE__;
    var_dump($f->getCreatedFileAndLine() === [$here, $created] && $f->getCreatedLocation() === "$here:$created");
    var_dump($completed === 0
        ? $f->getCompletedFileAndLine() === [null, 0] && $f->getCompletedLocation() === 'unknown'
        : $f->getCompletedFileAndLine() === [$here, $completed] && $f->getCompletedLocation() === "$here:$completed");
}
$state = new FutureState();
$future = (new Future($state))->ignore();
show($state, 10, 0);
show($future, 10, 0);
$state->complete(1);
show($state, 10, 14);
show($future, 10, 14);
$done = Future::completed(1)->ignore();
show($done, 17, 17);
$failed = Future::failed(new Exception())->ignore();
show($failed, 19, 19);
$cancelled = (new Future(new FutureState()))->ignore();
$cancelled->cancel();
show($cancelled, 21, 22);
var_dump($state->getAwaitingInfo(), (new Future(new FutureState()))->ignore()->getAwaitingInfo());
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
array(1) {
  [0]=>
  string(22) "FutureState(completed)"
}
array(1) {
  [0]=>
  string(20) "FutureState(pending)"
}
