<?php
// Coroutines that wait for each other are told.
use function probe\{spawn, suspend, await};

$a = spawn(function () use (&$b) { await($b); });
$b = spawn(function () use (&$a) { await($a); });
try {
    await($a);
} catch (probe\Cancellation $e) {
    echo $e->getMessage(), "\n";
}
