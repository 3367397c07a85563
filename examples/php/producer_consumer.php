<?php
// A channel between those who make something and those who use it. It holds two at most: a producer that is too fast waits.
// Run it: ./dev php examples/php/producer_consumer.php

use Async\Channel;
use function Async\{await_all_or_fail, delay, spawn};

$channel = new Channel(2);

$producers = [];
foreach (['apple' => 3, 'pear' => 2] as $fruit => $count) {
    $producers[] = spawn(function () use ($channel, $fruit, $count) {
        for ($i = 1; $i <= $count; $i++) {
            $channel->send("$fruit $i");
        }
    });
}

$eaten = 0;
$consumers = [];
foreach (['Ann', 'Bob'] as $name) {
    $consumers[] = spawn(function () use ($channel, $name, &$eaten) {
        foreach ($channel as $fruit) {  // ends when the channel is closed and empty
            echo "$name eats $fruit\n";
            $eaten++;
            delay(1);
        }
    });
}

await_all_or_fail($producers);
$channel->close();
await_all_or_fail($consumers);
echo "$eaten eaten\n";
