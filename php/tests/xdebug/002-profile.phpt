--TEST--
Xdebug profiles coroutines: what each function calls, also when exit() comes in one
--SKIPIF--
<?php
require __DIR__ . "/with_xdebug.inc";
if (!has_xdebug()) die("skip there is no Xdebug");
?>
--FILE--
<?php
require __DIR__ . '/with_xdebug.inc';
$directory = sys_get_temp_dir() . '/true_async_profile_' . getmypid();
mkdir($directory);
$script = "$directory/exit.php";
file_put_contents($script, '<?php
function leave() { Async\suspend(); exit(4); }
register_shutdown_function(function () { echo "shutdown\n"; });
Async\spawn(fn() => leave());
Async\suspend();
Async\delay(1000);
');
foreach ([__DIR__ . '/jobs.inc', $script] as $each) {
    echo run_with_xdebug('profile', $each, ['xdebug.output_dir' => $directory, 'xdebug.profiler_output_name' => 'profile']);
    $names = $calls = [];
    $caller = null;
    $name = function (string $text) use (&$names): string {
        preg_match('~^c?fn=\((\d+)\)(?: (.*))?$~', $text, $found);
        return $names[$found[1]] ??= $found[2];
    };
    $profile = file("$directory/profile", FILE_IGNORE_NEW_LINES);
    foreach ($profile as $line) {
        if (str_starts_with($line, 'fn=')) {
            $caller = $name($line);
        } elseif (str_starts_with($line, 'cfn=')) {
            $called = $name($line);
            $calls["$caller > $called"] = ($calls["$caller > $called"] ?? 0) + 1;
        }
    }
    ksort($calls);
    foreach ($calls as $call => $count) {
        if (preg_match('~job|inner|await~', $call)) {
            echo "$call: $count\n";
        }
    }
    echo count(preg_grep('~^summary: \d+ \d+$~', $profile)), " summary\n";
}
array_map('unlink', glob("$directory/*"));
rmdir($directory);
?>
--EXPECT--
24
status 0
inner > php::Async\suspend: 6
job > inner: 6
job > php::Async\suspend: 3
{main} > php::Async\await: 3
1 summary
shutdown
status 4
1 summary
