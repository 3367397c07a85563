--TEST--
FileSystemWatcher: events are buffered from construction on; coalesced or raw
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\FileSystemWatcher;
use function Async\delay;

foreach ([true, false] as $coalesce) {
    $dir = test_directory();
    $watcher = new FileSystemWatcher($dir, coalesce: $coalesce);
    file_put_contents("$dir/a", 'x');
    file_put_contents("$dir/b", 'x');
    unlink("$dir/a");
    delay(20);  // nobody iterates, everything is buffered
    $watcher->close();
    echo $coalesce ? "coalesced\n" : "raw\n";
    foreach ($watcher as $event) {
        show($event);
    }
}
?>
--EXPECT--
coalesced
a renamed changed
b renamed changed
raw
a renamed
a changed
b renamed
b changed
a renamed
