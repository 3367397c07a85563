--TEST--
Scope, TaskGroup: making them starts no scheduler; they belong to the main scope all the same
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup, TaskSet};
use function Async\{get_coroutines, spawn, suspend};

$inherited = Scope::inherit();
$group = new TaskGroup();
$set = new TaskSet(2);
$empty = new Scope();
$empty->disposeAfterTimeout(60000);
var_dump(count(get_coroutines()), count($group), $group->isFinished(), $empty->isCancelled());
$group->finally(fn() => print("group ends\n"));
$group->close();
echo "closed\n";
suspend();

$inherited->spawn(function () { suspend(); echo "inherited\n"; });
$set->spawn(fn() => print("set\n"));
spawn(function () use ($inherited) {
    echo json_encode($inherited->isFinished()), ' ', count(get_coroutines()), "\n";
});
suspend();
suspend();
spawn(fn() => throw new Exception('nobody takes it'));
$inherited->spawn(fn() => print("stopped with the main scope\n"));
suspend();
--EXPECTF--
int(0)
int(0)
bool(true)
bool(false)
closed
group ends
set
false 3
inherited

Fatal error: Uncaught Exception: nobody takes it in %s
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line %d
