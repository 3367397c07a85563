--TEST--
Transparent I/O: many coroutines look up names at the same time, whose answers PHP keeps in one place
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_all};

$questions = [
    'gethostbyname' => ['localhost' => gethostbyname('localhost'), '127.0.0.9' => '127.0.0.9', 'no.such.host.invalid' => 'no.such.host.invalid', '' => ''],
    'gethostbynamel' => ['localhost' => gethostbynamel('localhost'), '127.0.0.7' => ['127.0.0.7'], 'no.such.host.invalid' => false],
    'gethostbyaddr' => ['127.0.0.1' => gethostbyaddr('127.0.0.1')],
];
for ($i = 0; $i < 20; $i++) {
    foreach ($questions as $function => $answers) {
        foreach ($answers as $name => $answer) {
            $all[] = spawn(fn() => $function($name) === $answer ? 'right' : "$function($name) is wrong");
        }
    }
}
[$results, $errors] = await_all($all);
echo count($errors), ' ', implode(' ', array_unique($results)), "\n";
$coroutine = spawn(fn() => var_dump(gethostbyname(str_repeat('x', 300)) === str_repeat('x', 300)));
Async\await($coroutine);
?>
--EXPECTF--
0 right

Warning: gethostbyname(): Host name cannot be longer than %d characters in %s on line %d
bool(true)
