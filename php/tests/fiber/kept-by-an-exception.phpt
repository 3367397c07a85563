--TEST--
Fibers: at the end of the request the exception of one may be the last that holds another
--EXTENSIONS--
true_async
--FILE--
<?php
class Loop { static array $tasks = []; }
class TaskFailed extends Exception {
    public function __construct(public Fiber $child) { parent::__construct('failed'); }
}
Async\suspend();
for ($i = 0; $i < 20; $i++) {
    $task = new Fiber(function () {
        $child = new Fiber(fn() => 1);
        $child->start();
        throw new TaskFailed($child);
    });
    Loop::$tasks[] = $task;
    try {
        $task->start();
    } catch (TaskFailed $e) {
        echo $i === 19 ? get_class($e) . "\n" : '';
    }
}
unset($e, $task);
?>
--EXPECT--
TaskFailed
