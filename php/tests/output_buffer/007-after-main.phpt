--TEST--
Main's output buffers are main's alone, also when it has ended
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, delay, await, suspend};

ob_start(fn(string $text) => "<$text>");
echo 'main';
spawn(function () {
    echo 'level ', ob_get_level(), "\n";
    var_dump(@ob_end_clean());
});
spawn(function () {
    ob_start();
    echo 'own';
    await(spawn(fn() => delay(1)));
    echo strrev(ob_get_clean()), "\n";
});
register_shutdown_function(function () {
    echo ' shutdown ', ob_get_level();
    spawn(function () {
        echo "late\n";
        suspend();
        echo "later\n";
    });
});
?>
--EXPECT--
level 0
bool(false)
nwo
late
later
<main shutdown 1>
