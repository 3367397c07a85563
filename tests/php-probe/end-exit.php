<?php
// exit() in a coroutine ends the script: the others are unwound without a catch, shutdown functions run, the code is kept.
use function probe\{spawn, suspend, await, delay};

register_shutdown_function(function () { echo "shutdown function\n"; });
spawn(function () {
    try {
        delay(1000);
        echo "not reached\n";
    } catch (Throwable $e) {
        echo "not caught\n";
    }
});
spawn(function () { suspend(); echo "exit\n"; exit(3); });
await(spawn(function () { delay(1000); }));
echo "not reached\n";
