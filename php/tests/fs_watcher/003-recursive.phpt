--TEST--
FileSystemWatcher: recursive names are relative to the path; new directories are picked up, removed and re-created ones too, links not followed
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\FileSystemWatcher;
use function Async\{spawn, await, delay, timeout};

$dir = test_directory();
$other = test_directory();
mkdir("$dir/sub/deep", recursive: true);
symlink($other, "$dir/link");
$watcher = new FileSystemWatcher($dir, recursive: true);

/** Does something and lists the names that are reported for it. */
function names(FileSystemWatcher $watcher, Closure $action): void {
    $action();
    delay(30);
    // A file of its own marks the end.
    static $ends = 0;
    $end = 'end' . ++$ends;
    file_put_contents($GLOBALS['dir'] . "/$end", '');
    $names = [];
    foreach ($watcher as $event) {
        if ($event->filename === $end) {
            break;
        }
        if ($event->path !== $GLOBALS['dir']) {
            echo "another path\n";
        }
        if (!str_starts_with($event->filename, 'end')) {
            $names[$event->filename] = true;
        }
    }
    ksort($names);
    echo implode(' ', array_keys($names)), "\n";
}

names($watcher, fn() => file_put_contents("$dir/sub/deep/x.txt", 'x'));
names($watcher, function () use ($dir) {
    mkdir("$dir/new");
    delay(30);
    file_put_contents("$dir/new/y.txt", 'x');
});
names($watcher, function () use ($dir) {
    remove_tree("$dir/sub");
    delay(30);
});
names($watcher, function () use ($dir) {
    mkdir("$dir/sub");
    delay(30);
    file_put_contents("$dir/sub/z.txt", 'x');
});
names($watcher, fn() => file_put_contents("$other/not-seen", 'x'));

$flat = new FileSystemWatcher($dir);
file_put_contents("$dir/sub/z.txt", 'y');
delay(20);
$flat->close();
foreach ($flat as $event) {
    echo "not recursive: ";
    show($event);
}
echo "end\n";
?>
--EXPECT--
sub/deep/x.txt
new new/y.txt
sub sub/deep sub/deep/x.txt
sub sub/z.txt

end
