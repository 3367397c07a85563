<?php
// A first coroutine: spawn() queues it, it runs when main waits.
// Run it: ./dev php examples/php/first_coroutine.php

use function Async\{await, spawn, suspend};

$greeting = spawn(function (string $name): string {
    echo "in the coroutine\n";
    suspend();  // let others run
    echo "in the coroutine again\n";
    return "Hello, $name";
}, 'world');

spawn(function () {
    echo "another coroutine runs in between\n";
});

echo "main: nothing has run yet\n";
echo 'main: ' . await($greeting) . "\n";

// An exception of a coroutine comes out of await().
$broken = spawn(fn() => throw new RuntimeException('something went wrong'));
try {
    await($broken);
} catch (RuntimeException $e) {
    echo 'main caught: ', $e->getMessage(), "\n";
}
