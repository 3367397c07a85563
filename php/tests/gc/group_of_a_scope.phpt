--TEST--
GC: a group and the scope above it are no reason to keep each other, nor is the error that cancelled all its tasks
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Scope, TaskGroup};
use function Async\{delay, suspend};

final class Holder
{
    public TaskGroup $group;

    public function __construct()
    {
        $scope = new Scope();
        $scope->setExceptionHandler(function () { var_dump($this); });
        $this->group = new TaskGroup(scope: $scope);
        $this->group->spawn(fn () => 1);
        $this->group->close();
        $this->group->awaitCompletion();
    }
}

final class Cancelled
{
    public TaskGroup $group;

    public function __construct()
    {
        $this->group = new TaskGroup(scope: new Scope());
        $this->group->spawn(fn () => delay(10000));
        $this->group->spawn(fn () => delay(10000));
        suspend();
        $this->cancel($this);
        $this->group->awaitCompletion();
    }

    /// The trace of the cancellation keeps the argument.
    private function cancel(self $same): void
    {
        $this->group->cancel();
    }
}

ini_set('zend.exception_ignore_args', 0);
foreach ([Holder::class, Cancelled::class] as $class) {
    $object = new $class();
    $reference = WeakReference::create($object);
    unset($object);
    gc_collect_cycles();
    suspend();
    suspend();
    echo $class, $reference->get() === null ? ' has gone' : ' is still there', "\n";
}
?>
--EXPECT--
Holder has gone
Cancelled has gone
