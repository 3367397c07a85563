--TEST--
A script that opcache has in its cache ends as any other
--SKIPIF--
<?php
if (!file_exists(ini_get('extension_dir') . '/opcache.so')) die("skip there is no opcache");
?>
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

$directory = sys_get_temp_dir() . '/true_async_cache_' . getmypid();
mkdir($directory);
file_put_contents("$directory/script.php", '<?php
Async\spawn(function () {
    Async\suspend();
    echo "after main\n";
    throw new LogicException("of a coroutine");
});
echo count(opcache_get_status()["scripts"] ?? []), " main\n";
');
$command = [PHP_BINARY, '-n', '-d', 'extension=' . true_async_so(), '-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1',
    '-d', 'opcache.file_cache=' . $directory, '-d', 'opcache.file_update_protection=0', '-d', 'display_errors=1', "$directory/script.php"];
for ($run = 1; $run <= 2; $run++) {
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    echo explode(' in ', stream_get_contents($pipes[1]))[0], "\n";
    echo 'status ', proc_close($process), "\n";
}
$all = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($directory, FilesystemIterator::SKIP_DOTS), RecursiveIteratorIterator::CHILD_FIRST);
$cached = 0;
foreach ($all as $each) {
    $cached += str_ends_with($each, '.bin');
    $each->isDir() ? rmdir($each) : unlink($each);
}
rmdir($directory);
echo "$cached cached\n";
?>
--EXPECT--
1 main
after main

Fatal error: Uncaught LogicException: of a coroutine
status 255
1 main
after main

Fatal error: Uncaught LogicException: of a coroutine
status 255
1 cached
