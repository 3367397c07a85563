<?php
// Coroutines take turns in the order in which they were spawned; main is one of them.
use function probe\{spawn, suspend};

foreach (['A', 'B'] as $name) {
    spawn(function () use ($name) {
        echo $name, "1\n";
        suspend();
        echo $name, "2\n";
    });
}
echo "main 1\n";
suspend();
echo "main 2\n";
