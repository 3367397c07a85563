--TEST--
spawn() works in destructors and shutdown functions; suspend() in nested calls
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

class D {
    function __destruct() {
        echo await(spawn(fn() => "from a destructor\n"));
    }
}
function nested(int $n) { $n == 0 ? suspend() : nested($n - 1); }
spawn(function () { nested(5); echo "nested\n"; });
$d = new D();
unset($d);
register_shutdown_function(function () {
    echo await(spawn(fn() => "from a shutdown function\n"));
    nested(3);
    $local = new D();
});
nested(2);
echo "main\n";
?>
--EXPECT--
nested
from a destructor
main
from a shutdown function
from a destructor
