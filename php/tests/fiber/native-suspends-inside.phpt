--TEST--
Fibers: one that began before the scheduler keeps its own stack and its bounds when a coroutine suspends inside it
--EXTENSIONS--
true_async
--FILE--
<?php
function deep(int $level): int {
    return $level === 0 ? 0 : 1 + array_map(deep(...), [$level - 1])[0];
}
$native = new Fiber(function () {
    for ($i = 0; $i < 3; $i++) {
        Fiber::suspend($i);
        Async\suspend();
        echo 'deep in the fiber: ', deep(50), "\n";
    }
});
$native->start();
$other = Async\spawn(function () {
    for ($i = 0; $i < 3; $i++) {
        Async\suspend();
        echo 'deep in a coroutine: ', deep(50), "\n";
    }
});
while (!$native->isTerminated()) {
    $native->resume();
}
Async\await($other);
echo 'deep in main: ', deep(500), "\n";
?>
--EXPECT--
deep in a coroutine: 50
deep in the fiber: 50
deep in a coroutine: 50
deep in a coroutine: 50
deep in the fiber: 50
deep in the fiber: 50
deep in main: 500
