--TEST--
Transparent I/O: an array given by reference may be changed by others while the function waits
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, delay};

$go = tempnam(sys_get_temp_dir(), 'go');
foreach ([[], null, 'text', 5, ['was']] as $value) {
    unlink($go);
    $out = ['before'];
    $running = spawn(function () use (&$out, $go) {
        return exec("while ! test -e $go; do :; done; seq 1 3", $out, $code) . " $code";
    });
    delay(1);
    $out = $value;
    touch($go);
    echo await($running), ' ', json_encode($out), "\n";
}

unlink($go);

// Two that share one: nothing is lost.
class Shared { public ?array $lines = null; public int $number = 0; }
$shared = new Shared();
$all = [];
foreach (['a', 'b'] as $name) {
    $all[] = spawn(fn() => exec("printf '$name\\n$name\\n'", $shared->lines));
}
array_map(fn($one) => await($one), $all);
sort($shared->lines);
echo json_encode($shared->lines), "\n";
try {
    exec('true', $shared->number);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
$plain = exec('echo one', $new);
echo json_encode([$plain, $new]), "\n";
?>
--EXPECT--
3 0 ["1","2","3"]
3 0 ["1","2","3"]
3 0 ["1","2","3"]
3 0 ["1","2","3"]
3 0 ["was","1","2","3"]
["a","a","b","b"]
Cannot assign array to reference held by property Shared::$number of type int
["one",["one"]]
