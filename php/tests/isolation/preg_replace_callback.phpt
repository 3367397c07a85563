--TEST--
preg_replace_callback() in coroutines: what one matches does not change what another one replaces
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all_or_fail, suspend};

$many = '/' . str_repeat('(x)?', 40) . '(a)/';  // more groups than PHP keeps memory for
function wait(int $turns): void {
    while ($turns-- > 0) {
        suspend();
    }
}
foreach (['preg_replace_callback' => fn($pattern, $callback, $subject) => preg_replace_callback($pattern, $callback, $subject),
          'preg_replace_callback_array' => fn($pattern, $callback, $subject) => preg_replace_callback_array([$pattern => $callback], $subject)] as $name => $replace) {
    $long = str_repeat('-', 3000);
    echo $name, ': ', json_encode(await_all_or_fail([
        spawn(fn() => $replace($many, function () { suspend(); return 'A'; }, 'a')),
        spawn(fn() => $replace('/(b)(c)/', function () { wait(3); return 'BC'; }, 'bc-bc-bc')),
        spawn(function () use ($long) { wait(2); return preg_match('/(z+)/', $long . 'zzz', $found) . $found[1]; }),
        spawn(fn() => $replace('/\w/', fn($m) => $replace('/./', function ($m) { suspend(); return "<$m[0]>"; }, $m[0]), 'xy')),
    ])), "\n";
}
// Traces and exceptions are as ever.
await(spawn(function () {
    try {
        preg_replace_callback('/a/', function () {
            suspend();
            echo (new Exception)->getTraceAsString(), "\n";
            throw new LogicException('out');
        }, 'a');
    } catch (LogicException $e) {
        echo $e->getMessage(), "\n";
    }
    var_dump(preg_replace_callback('/a/', fn() => 'b', ['k' => 'a'], -1, $count), $count);
    try {
        preg_replace_callback('/a/', 'nothing', 'a');
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
    var_dump(preg_replace_callback('/(/', fn() => 'b', 'a'));
}));
?>
--EXPECTF--
preg_replace_callback: ["A","BC-BC-BC","1zzz","<x><y>"]
preg_replace_callback_array: ["A","BC-BC-BC","1zzz","<x><y>"]
#0 [internal function]: {closure%S}(Array)
#1 %s(%d): preg_replace_callback('/a/', Object(Closure), 'a')
#2 [internal function]: {closure%S}()
#3 {main}
out
array(1) {
  ["k"]=>
  string(1) "b"
}
int(1)
preg_replace_callback(): Argument #2 ($callback) must be a valid callback, function "nothing" not found or invalid function name

Warning: preg_replace_callback(): Compilation failed: missing closing parenthesis at offset 1 in %s on line %d
NULL
