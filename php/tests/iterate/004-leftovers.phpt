--TEST--
Trace 16: what callbacks have spawned is cancelled, or waited for, when all callbacks are done
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{iterate, suspend, spawn};

function child(): Closure {
    return function () {
        spawn(function () {
            echo "started\n";
            try {
                suspend();
                suspend();
                suspend();
                echo "done\n";
            } catch (Cancellation $e) {
                echo "cancelled\n";
                throw $e;
            }
        });
    };
}
iterate([1, 2, 3], child());
echo "returned\n";
iterate([1, 2], child(), cancelPending: false);
echo "returned\n";
// Its scope is never safe, whatever that of the caller is, and callbacks that still run are no leftovers.
$safe = new Async\Scope();
$safe->spawn(function () {
    iterate([1], child());
    iterate([1, 2], function ($v) { suspend(); suspend(); echo "callback $v\n"; });
    echo "in a safe scope\n";
});
?>
--EXPECT--
started
started
started
cancelled
cancelled
cancelled
returned
started
started
done
done
returned
started
cancelled
callback 1
callback 2
in a safe scope
