--TEST--
FileSystemWatcher as a trigger and as a token; a watched file goes by its own name
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\{FileSystemWatcher, FutureState, Future};
use function Async\{await_any_or_fail, await_all, spawn, delay};

$dir = test_directory();
touch("$dir/one");
$watcher = new FileSystemWatcher("$dir/one");
$pending = new Future(new FutureState());
spawn(fn() => file_put_contents("$dir/one", 'x'));
try {
    await_all([$pending], $watcher);
} catch (Async\OperationCanceledException $e) {
    echo $e->getMessage(), "\n";
}
await_any_or_fail([$pending, $watcher]);  // it is still there
foreach ($watcher as $event) {
    show($event);
    $watcher->close();
}
await_any_or_fail([$pending, $watcher]);
echo "end\n";
?>
--EXPECT--
Operation has been cancelled
one changed
end
