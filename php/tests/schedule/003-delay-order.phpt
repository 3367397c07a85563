--TEST--
Timers fire in the order of their deadlines, never early, and count from the call
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, delay};

foreach ([30, 10, 20] as $ms) {
    spawn(function () use ($ms) { delay($ms); echo "$ms\n"; });
}
$began = hrtime(true);
delay(40);
var_dump(hrtime(true) - $began >= 40e6);

// Burned time is no excuse for being late nor for being early.
$until = hrtime(true) + 20e6;
while (hrtime(true) < $until);
$began = hrtime(true);
delay(5);
$took = (hrtime(true) - $began) / 1e6;
var_dump($took >= 5 && $took < 1000);
?>
--EXPECT--
10
20
30
bool(true)
bool(true)
