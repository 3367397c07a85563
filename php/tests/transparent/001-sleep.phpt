--TEST--
Transparent I/O: twenty coroutines sleep at the same time, in each of the ways there are
--FILE--
<?php
use function Async\{spawn, await_all};

$ways = [
    'usleep' => fn() => usleep(50_000),
    'sleep' => fn() => sleep(1),
    'time_nanosleep' => fn() => time_nanosleep(0, 50_000_000),
    'time_sleep_until' => fn() => time_sleep_until(microtime(true) + 0.05),
];
foreach ($ways as $name => $way) {
    $begin = hrtime(true);
    $all = [];
    for ($i = 0; $i < 20; $i++) {
        $all[] = spawn($way);
    }
    [$results] = await_all($all);
    $took = (hrtime(true) - $begin) / 1e9;
    $limit = $name == 'sleep' ? 10 : 0.5;  // half of what they take one after another
    echo $name, ' ', json_encode(array_values(array_unique($results))), ' ', $took < $limit ? 'at once' : "one after another: $took", "\n";
}

// They end in the order of their deadlines.
$order = [];
foreach ([60, 20, 40] as $ms) {
    $last[] = spawn(function () use ($ms, &$order) {
        usleep($ms * 1000);
        $order[] = $ms;
    });
}
await_all($last);
echo implode(' ', $order), "\n";
?>
--EXPECT--
usleep [null] at once
sleep [0] at once
time_nanosleep [true] at once
time_sleep_until [true] at once
20 40 60
