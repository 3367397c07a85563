--TEST--
TaskGroup: a cancelled group is closed before it drops its queued tasks
--EXTENSIONS--
true_async
--FILE--
<?php
class Last {
    public function __construct(private Closure $do) {}
    public function __destruct() { ($this->do)(); }
}
foreach ([Async\TaskGroup::class, Async\TaskSet::class] as $class) {
    $group = new $class(1);
    $last = new Last(function () use (&$group) {
        var_dump($group->isClosed());
        try {
            $group->spawn(fn() => print("never\n"));
        } catch (Async\AsyncException $e) {
            echo $e->getMessage(), "\n";
        }
    });
    $group->spawn(fn() => Async\suspend());
    $group->spawn(function () use ($last) {});
    unset($last);
    $group->cancel();
    var_dump($group->isClosed());
}
?>
--EXPECT--
bool(true)
Cannot spawn tasks on a closed TaskGroup
bool(true)
bool(true)
Cannot spawn tasks on a closed TaskSet
bool(true)
