--TEST--
FileSystemWatcher: foreach in the main script suspends while the buffer is empty and ends after close()
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\{FileSystemEvent, FileSystemWatcher};
use function Async\{spawn, delay};

$dir = test_directory();
$watcher = new FileSystemWatcher($dir);
var_dump($watcher->isClosed(), $watcher instanceof Async\Awaitable, $watcher instanceof IteratorAggregate);
spawn(function () use ($dir, $watcher) {
    file_put_contents("$dir/a.txt", 'x');
    delay(20);
    file_put_contents("$dir/a.txt", 'more');
    delay(20);
    unlink("$dir/a.txt");
    delay(20);
    $watcher->close();
    $watcher->close();
});
foreach ($watcher as $number => $event) {
    var_dump($event instanceof FileSystemEvent, $event->path === $dir);
    echo "$number ";
    show($event);
}
var_dump($watcher->isClosed());
foreach ($watcher as $event) {
    echo "nothing comes after close\n";
}
echo "end\n";
?>
--EXPECT--
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
0 a.txt renamed changed
bool(true)
bool(true)
1 a.txt changed
bool(true)
bool(true)
2 a.txt renamed
bool(true)
end
