--TEST--
What shutdown functions spawn runs after all of them, before the destructors of globals
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

class D { function __destruct() { echo "global destructor\n"; } }
$global = new D();
register_shutdown_function(function () {
    spawn(function () {
        echo "1 from the first\n";
        delay(1);
        echo "2 from the first\n";
        register_shutdown_function(function () {
            echo "registered late\n";
            spawn(function () { echo "spawned late\n"; });
        });
    });
    echo "first\n";
    register_shutdown_function(fn() => print("third\n"));
});
register_shutdown_function(function () { echo "second\n"; });
echo "main\n";
?>
--EXPECT--
main
first
second
third
1 from the first
2 from the first
registered late
spawned late
global destructor
