--TEST--
Timers are delivered between the turns of coroutines that are always ready, however long these take
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend, timeout, delay};

function work(int $milliseconds): void {
    $end = hrtime(true) + $milliseconds * 1_000_000;
    while (hrtime(true) < $end);
}

foreach (['at first' => 0, 'after a sleep' => 1] as $when => $pause) {
    if ($pause > 0) {
        delay($pause);
    }
    $steps = 0;
    $busy = spawn(function () use (&$steps) {
        for (; $steps < 30; ++$steps) {
            work(5);
            suspend();
        }
    });
    try {
        await($busy, timeout(12));
        echo "too late\n";
    } catch (Async\OperationCanceledException) {
        echo "$when: ", $steps < 10 ? 'in time' : $steps, "\n";
    }
    await($busy);
}
?>
--EXPECT--
at first: in time
after a sleep: in time
