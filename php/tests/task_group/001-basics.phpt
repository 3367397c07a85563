--TEST--
TaskGroup and TaskSet: results, errors, keys, closing, iteration, limits
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{TaskGroup,TaskSet};
use function Async\{spawn,await,suspend,delay};
$g = new TaskGroup; $g->spawn(fn() => 1); $g->spawnWithKey('k', function() { delay(1); return 2; }); 
print_r(await($g->all())); 
$g->spawn(fn() => throw new Exception("E")); try { await($g->all()); } catch (Async\CompositeException $e) { echo count($e->getExceptions()), $e->getExceptions()[0]->getMessage(), "\n"; }
print_r($g->getResults()); print_r(array_keys($g->getErrors())); var_dump(await($g->race()), count($g), $g->isFinished(), $g->isClosed());
try { $g->spawnWithKey('k', fn() => 1); } catch (Async\AsyncException $e) { echo $e->getMessage(), "\n"; }
$g->finally(fn($x) => print(get_class($x)." finally\n")); $g->close(); try { $g->spawn(fn() => 1); } catch (Async\AsyncException $e) { echo $e->getMessage(), "\n"; }
foreach ($g as $k => [$v, $err]) echo "$k=>", var_export($v, true), $err ? " ".$err->getMessage() : '', "\n";
$s = new TaskSet(2); foreach ([1,2] as $i) $s->spawn(function() use ($i) { echo "{$i}s "; suspend(); echo "{$i}e "; return $i; }); $s->spawn(fn() => print("3s\n")); 
var_dump(await($s->joinNext())); echo count($s), "\n"; $s->close(); $s->awaitCompletion();
foreach ($s as $k => $v) echo "$k ", count($s), "\n";
try { (new TaskGroup)->race(); } catch (Async\AsyncException $e) { echo $e->getMessage(), "\n"; }
try { $g->getIterator(); } catch (Error $e) { echo $e->getMessage(), "\n"; }
try { new TaskGroup(-1); } catch (ValueError $e) { echo $e->getMessage(), "\n"; }
echo "end\n";
--EXPECT--
Array
(
    [0] => 1
    [k] => 2
)
1E
Array
(
    [0] => 1
    [k] => 2
)
Array
(
    [0] => 1
)
int(1)
int(3)
bool(true)
bool(false)
Duplicate key "k" in TaskGroup
Cannot spawn tasks on a closed TaskGroup
0=>1
k=>2
1=>NULL E
Async\TaskGroup finally
1s 2s 1e 2e int(1)
2
3s
1 1
2 0
Cannot race on an empty TaskGroup
An object of class Async\TaskGroup is not a traversable object in an invalid state
Async\TaskGroup::__construct(): Argument #1 ($concurrency) must be between 0 and 4294967295
end
