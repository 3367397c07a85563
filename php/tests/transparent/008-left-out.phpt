--TEST--
Transparent I/O: functions and objects that are left out keep blocking
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

$program = <<<'PHP'
$n = 0;
$other = Async\spawn(function () use (&$n) { $n++; });
usleep(1000);
echo $n ? "usleep suspends, " : "usleep blocks, ";
$n = 0;
$other = Async\spawn(function () use (&$n) { $n++; });
time_nanosleep(0, 1000000);
echo $n ? "nanosleep suspends\n" : "nanosleep blocks\n";
PHP;
$extension = true_async_so();
foreach (['', 'transparent_io=0', 'transparent_io_skip_functions="usleep, close"', 'transparent_io_skip_functions=nanosleep'] as $setting) {
    echo $setting ?: 'by default', ': ';
    passthru(implode(' ', array_map('escapeshellarg', [
        PHP_BINARY, '-n', '-d', "extension=$extension", ...($setting ? ['-d', "async.$setting"] : []), '-r', $program,
    ])));
}
?>
--EXPECT--
by default: usleep suspends, nanosleep suspends
transparent_io=0: usleep blocks, nanosleep blocks
transparent_io_skip_functions="usleep, close": usleep blocks, nanosleep suspends
transparent_io_skip_functions=nanosleep: usleep suspends, nanosleep blocks
