--TEST--
TaskGroup: concurrency and the queue limit
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{TaskGroup, TaskSet};
use function Async\{spawn, suspend, await};
function task($n) { return function () use ($n) { echo "start $n\n"; suspend(); echo "end $n\n"; return $n; }; }
foreach ([null, 0] as $unlimited) {
    echo "unlimited\n";
    $g = new TaskGroup($unlimited, 1);
    foreach ([1, 2, 3] as $n) { $g->spawn(task($n)); echo "spawned $n\n"; }
    await($g->all());
}
echo "concurrency 1, queue 2: the fourth spawn suspends main\n";
$g = new TaskGroup(1, 2);
foreach ([1, 2, 3, 4] as $n) { $g->spawn(task($n)); echo "spawned $n\n"; }
await($g->all());
echo "the default queue is twice the concurrency\n";
$g = new TaskGroup(1);
foreach ([1, 2, 3, 4] as $n) { $g->spawn(task($n)); echo "spawned $n\n"; }
await($g->all());
echo "an unbounded queue\n";
$g = new TaskGroup(2, 0);
foreach ([1, 2, 3, 4, 5] as $n) { $g->spawn(task($n)); echo "spawned $n\n"; }
await($g->all());
echo "cancelled while it waits in spawn\n";
$g = new TaskGroup(1, 1);
$s = spawn(function () use ($g) { foreach ([1, 2, 3] as $n) { tell(fn() => $g->spawn(task($n))); } });
suspend();
$s->cancel();
suspend();
await($g->all());
tell(fn() => count($g));
echo "closed while it waits in spawn\n";
$g = new TaskGroup(1, 1);
$s = spawn(function () use ($g) { foreach ([1, 2, 3] as $n) { tell(fn() => $g->spawn(task($n))); } });
suspend();
$g->close();
await($s);
await($g->all());
--EXPECT--
unlimited
spawned 1
spawned 2
spawned 3
start 1
start 2
start 3
end 1
end 2
end 3
unlimited
spawned 1
spawned 2
spawned 3
start 1
start 2
start 3
end 1
end 2
end 3
concurrency 1, queue 2: the fourth spawn suspends main
spawned 1
spawned 2
spawned 3
start 1
end 1
start 2
spawned 4
end 2
start 3
end 3
start 4
end 4
the default queue is twice the concurrency
spawned 1
spawned 2
spawned 3
start 1
end 1
start 2
spawned 4
end 2
start 3
end 3
start 4
end 4
an unbounded queue
spawned 1
spawned 2
spawned 3
spawned 4
spawned 5
start 1
start 2
end 1
end 2
start 3
start 4
end 3
end 4
start 5
end 5
cancelled while it waits in spawn
null
null
start 1
Async\AsyncCancellation: Coroutine cancelled
end 1
start 2
end 2
2
closed while it waits in spawn
null
null
start 1
Async\AsyncException: Cannot spawn tasks on a closed TaskGroup
end 1
start 2
end 2
