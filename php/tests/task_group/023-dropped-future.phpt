--TEST--
TaskGroup, TaskSet: a pending future that is dropped warns at once and takes no result
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{TaskGroup, TaskSet};
use function Async\{suspend, spawn, await};

$set = new TaskSet();
$set->spawn(function () { suspend(); return 'one'; });
$dropped = $set->joinNext();
echo "before\n";
unset($dropped);
echo "after\n";
$set->joinNext()->ignore();
suspend();
suspend();
var_dump($set->joinNext()->await());

$group = new TaskGroup();
foreach ([1, 2, 3] as $value) {
    $group->spawn(function () use ($value) { suspend(); return $value; });
}
$all = $group->all();
$any = $group->any();
unset($any);
$race = $group->race();
$waiter = spawn(fn() => $race->await());
suspend();
unset($race);
unset($all);
echo "only those that nobody awaits\n";
var_dump(await($waiter), $group->all()->await());

$all = null;
$group = new TaskGroup();
$group->spawn(function () { suspend(); return 'mapped'; });
$chained = $group->all()->map(fn($all) => print("in a chain: $all[0]\n"));
$chained->await();
--EXPECTF--
before

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:7 in %s on line 9
after
string(3) "one"

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:21 in %s on line 22

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:20 in %s on line 27
only those that nobody awaits
int(1)
array(3) {
  [0]=>
  int(1)
  [1]=>
  int(2)
  [2]=>
  int(3)
}
in a chain: mapped
