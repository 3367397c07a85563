--TEST--
getId(), spawn and suspend locations, getAwaitingInfo()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, await};

$a = spawn(function () {
    suspend();
    delay(1000);
});
$b = spawn(fn() => 1);
var_dump($a->getId() > 0, $b->getId() > $a->getId());
var_dump($a->getSpawnFileAndLine() === [__FILE__, 4], $a->getSpawnLocation() === __FILE__ . ':4');
var_dump($a->getSuspendFileAndLine(), $a->getSuspendLocation());
var_dump($a->getAwaitingInfo());
suspend();
var_dump($a->getSuspendFileAndLine() === [__FILE__, 5], $a->getSuspendLocation() === __FILE__ . ':5');
suspend();
var_dump($a->getSuspendFileAndLine() === [__FILE__, 6]);
var_dump($a->getAwaitingInfo());
$waiter = spawn(fn() => await($a));
suspend();
echo preg_replace('/\d+/', '#', basename($waiter->getAwaitingInfo()[0])), "\n";
$a->cancel();
suspend();
var_dump($a->getAwaitingInfo(), $b->getAwaitingInfo());
var_dump($a->asHiPriority() === $a);
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
array(2) {
  [0]=>
  NULL
  [1]=>
  int(0)
}
string(7) "unknown"
array(0) {
}
bool(true)
bool(true)
bool(true)
array(1) {
  [0]=>
  string(%d) "%s(%s%dms%S)"
}
%s
array(0) {
}
array(0) {
}
bool(true)
