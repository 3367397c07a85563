--TEST--
FileSystemWatcher: breaking out, closing inside the loop, cancelling who waits, destroying
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\FileSystemWatcher;
use function Async\{spawn, await, delay, suspend};

$dir = test_directory();
$watcher = new FileSystemWatcher($dir);
file_put_contents("$dir/a", 'x');
file_put_contents("$dir/b", 'x');
file_put_contents("$dir/c", 'x');
delay(20);
foreach ($watcher as $event) {
    show($event);
    break;
}
foreach ($watcher as $event) {
    show($event);
    $watcher->close();  // what is buffered still comes
}

$watcher = new FileSystemWatcher($dir);
$reader = spawn(function () use ($watcher) {
    try {
        foreach ($watcher as $event) {
            echo "nothing has happened\n";
        }
    } finally {
        echo "left\n";
    }
});
suspend();
$reader->cancel();
try {
    await($reader);
} catch (Async\AsyncCancellation $e) {
    echo $e->getMessage(), "\n";
}
var_dump($watcher->isClosed());

// Nobody waits: nothing is kept alive, and the object may just go.
unset($watcher);
$left = new FileSystemWatcher($dir, debounceMs: 60000);
file_put_contents("$dir/a", 'xyz');
delay(5);
echo "end\n";
?>
--EXPECT--
a renamed changed
b renamed changed
c renamed changed
left
Coroutine cancelled
bool(false)
end
