--TEST--
Callbacks run in coroutines of their own, in subscription order, before who awaits the first
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\{spawn, await, current_coroutine};

$state = new FutureState();
$future = new Future($state);
$first = $future->map(function () { echo "1\n"; });
$second = $future->map(function () { echo "2\n"; });
$third = $future->finally(function () { echo "3\n"; });
$second->ignore();
$third->ignore();
spawn(function () use ($state) {
    echo "complete\n";
    $state->complete(null);
    echo "completed\n";
});
await($first);
echo "main\n";
?>
--EXPECT--
complete
completed
1
2
3
main
