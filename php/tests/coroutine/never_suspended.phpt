--TEST--
Coroutine: getSuspendFileAndLine(): one that runs and has never been suspended has no such place
--FILE--
<?php
use function Async\{await, current_coroutine, spawn};

await(spawn(function () {
    echo json_encode(current_coroutine()->getSuspendFileAndLine()), ' ', current_coroutine()->getSuspendLocation(), "\n";
}));
?>
--EXPECT--
[null,0] unknown
