--TEST--
Xdebug traces coroutines: every function that is entered is left, each coroutine has its own depth
--SKIPIF--
<?php
require __DIR__ . "/with_xdebug.inc";
if (!has_xdebug()) die("skip there is no Xdebug");
?>
--FILE--
<?php
require __DIR__ . '/with_xdebug.inc';
$directory = sys_get_temp_dir() . '/true_async_trace_' . getmypid();
mkdir($directory);
echo run_with_xdebug('trace', __DIR__ . '/jobs.inc', ['xdebug.output_dir' => $directory, 'xdebug.trace_format' => 1]);
[$file] = glob("$directory/*.xt");
$open = $depths = [];
$entered = 0;
foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
    $field = explode("\t", $line);
    if (!isset($field[2])) {
        continue;
    }
    if ($field[2] === '0') {
        $entered += (int) !str_starts_with($field[5], 'true_async_');  // shutdown functions, that not every Xdebug sees
        $open[$field[1]] = $field[5];
        $depths[$field[5]][$field[0]] = true;
    } elseif ($field[2] === '1') {
        if (!isset($open[$field[1]])) {
            echo "left without being entered: $line\n";
        }
        unset($open[$field[1]]);
    }
}
foreach (['{main}', 'job', 'inner', 'Async\suspend', 'Async\await'] as $name) {
    echo $name, ': ', implode(' ', array_keys($depths[$name])), "\n";
}
var_dump($open, $entered);
array_map('unlink', glob("$directory/*"));
rmdir($directory);
?>
--EXPECT--
24
status 0
{main}: 1
job: 2
inner: 3
Async\suspend: 4 3
Async\await: 2
array(0) {
}
int(25)
