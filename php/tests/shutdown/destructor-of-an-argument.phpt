--TEST--
A destructor that runs when the script is over belongs to no coroutine
--FILE--
<?php
use function Async\{current_coroutine, spawn, suspend, graceful_shutdown};
class D {
    function __destruct() {
        try {
            current_coroutine();
            echo "a coroutine\n";
        } catch (Async\AsyncException $e) {
            echo $e->getMessage(), "\n";
        }
        try {
            suspend();
            echo "suspended\n";
        } catch (Error $e) {
            echo $e->getMessage(), "\n";
        }
    }
}
spawn(function ($d) { echo "never\n"; }, new D());
graceful_shutdown();
echo "end\n";
?>
--EXPECT--
end
The current coroutine is not defined
The scheduler itself calls this code: it cannot suspend
