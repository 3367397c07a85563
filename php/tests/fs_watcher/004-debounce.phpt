--TEST--
FileSystemWatcher: debounce gives one event without a name after quiet time; maxHold bounds it; extensions restrict
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\FileSystemWatcher;
use function Async\{spawn, delay};

function events(FileSystemWatcher $watcher, int $wait): void {
    delay($wait);
    $watcher->close();
    $count = 0;
    foreach ($watcher as $event) {
        show($event);
        $count++;
    }
    echo "$count events\n";
}

$dir = test_directory();
echo "quiet\n";
$watcher = new FileSystemWatcher($dir, debounceMs: 60);
for ($i = 0; $i < 5; $i++) {
    file_put_contents("$dir/f$i", 'x');
    delay(10);
}
events($watcher, 150);

echo "silence before\n";
$watcher = new FileSystemWatcher($dir, debounceMs: 5000);
file_put_contents("$dir/f", 'x');
events($watcher, 50);

echo "held\n";
$watcher = new FileSystemWatcher($dir, debounceMs: 5000, maxHoldMs: 50);
file_put_contents("$dir/f", 'xy');
events($watcher, 150);

echo "extensions\n";
$watcher = new FileSystemWatcher($dir, debounceMs: 20, extensions: ['php', '.Txt']);
file_put_contents("$dir/a.js", 'x');
delay(60);
file_put_contents("$dir/a.PHP", 'x');
delay(60);
events($watcher, 50);
$watcher = new FileSystemWatcher($dir, debounceMs: 20, extensions: ['php']);
file_put_contents("$dir/b.js", 'x');
events($watcher, 80);
?>
--EXPECT--
quiet
null renamed changed
1 events
silence before
0 events
held
null changed
1 events
extensions
null renamed changed
1 events
0 events
