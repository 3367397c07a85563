--TEST--
A derived future keeps its source alive
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\{spawn, await};

$state = new FutureState();
$derived = (new Future($state))->map(fn($v) => $v + 1)->map(fn($v) => $v * 2)->finally(function () { echo "done\n"; });
$source = new Future($state);
$other = $source->map(fn($v) => "other $v");
unset($source);
spawn(fn() => $state->complete(20));
var_dump(await($derived), await($other));
?>
--EXPECT--
done
int(42)
string(8) "other 20"
