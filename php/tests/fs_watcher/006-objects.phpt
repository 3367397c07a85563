--TEST--
FileSystemWatcher and FileSystemEvent: final, strict, not serializable, read only; wrong arguments
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/dir.inc';
use Async\{FileSystemEvent, FileSystemWatcher};
use function Async\{await, delay};

$dir = test_directory();
$watcher = new FileSystemWatcher($dir);
touch("$dir/a");
foreach ($watcher as $event) {
    break;
}
$event2 = $event;
var_dump((new ReflectionClass($event))->isFinal(), (new ReflectionClass($watcher))->isFinal());
foreach ([
    fn() => $event->renamed = false,
    fn() => $event->other = 1,
    fn() => $watcher->other = 1,
    fn() => serialize($event),
    fn() => serialize($watcher),
    fn() => clone $watcher,
    fn() => new FileSystemWatcher(),
    fn() => new FileSystemWatcher([]),
    fn() => new FileSystemWatcher($dir, extensions: 'php'),
    fn() => await($watcher),
    function () use ($watcher) { foreach ($watcher as &$event); },
] as $wrong) {
    try {
        $wrong();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
try {
    new FileSystemWatcher("$dir/no-such");
} catch (Error $e) {
    echo get_class($e), ' ', str_replace($dir, 'DIR', $e->getMessage()), "\n";
}
?>
--EXPECT--
bool(true)
bool(true)
Error: Cannot modify readonly property Async\FileSystemEvent::$renamed
Error: Cannot create dynamic property Async\FileSystemEvent::$other
Error: Cannot create dynamic property Async\FileSystemWatcher::$other
Exception: Serialization of 'Async\FileSystemEvent' is not allowed
Exception: Serialization of 'Async\FileSystemWatcher' is not allowed
Error: Trying to clone an uncloneable object of class Async\FileSystemWatcher
ArgumentCountError: Async\FileSystemWatcher::__construct() expects at least 1 argument, 0 given
TypeError: Async\FileSystemWatcher::__construct(): Argument #1 ($path) must be of type string, array given
TypeError: Async\FileSystemWatcher::__construct(): Argument #6 ($extensions) must be of type array, string given
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Completable, Async\FileSystemWatcher given
Error: An iterator cannot be used with foreach by reference
Error Cannot watch DIR/no-such: ENOENT (no such file or directory)
