<?php
// Three slow calls of ordinary PHP at the same time: one second, not three.

use function Async\{await_all_or_fail, spawn};

$began = microtime(true);
[$text, $number, $line] = await_all_or_fail([
    spawn(fn() => trim(shell_exec('sleep 1; echo a program'))),
    spawn(function () { sleep(1); return 42; }),
    spawn(fn() => fgets(popen('sleep 1; echo a pipe', 'r'))),
]);
echo "$text, $number, $line";
echo 'seconds: ', floor(microtime(true) - $began), "\n";
