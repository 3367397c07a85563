--TEST--
Future chains: a derived future keeps its source
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState};
use function Async\{spawn, suspend, await};
$state = new FutureState();
$a = (new Future($state))->map(fn($v) => "$v a");
$b = (new Future($state))->map(fn($v) => "$v b")->map(fn($v) => "$v c")->catch(fn() => 'no')->finally(fn() => 0);
$source = new Future($state);
$c = $source->map(fn($v) => "$v d");
unset($source);
gc_collect_cycles();
spawn(fn() => $state->complete('v'));
tell(fn() => [await($a), await($b), await($c)]);
echo "the state goes before it is completed\n";
class Probe { function __destruct() { echo "probe gone\n"; } }
$state = new FutureState();
$probe = new Probe();
$d = (new Future($state))->map(fn($v) => $probe)->ignore();
unset($state, $probe);
gc_collect_cycles();
echo "pending for ever: ", json_encode($d->isCompleted()), "\n";
unset($d);
gc_collect_cycles();
suspend();
echo "end\n";
--EXPECT--
["v a","v b c","v d"]
the state goes before it is completed
pending for ever: false
probe gone
end
