--TEST--
await_all(): results and errors by key, order, fillNull, empty inputs
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_all, delay};

function later(int $ms, mixed $value) { return spawn(function () use ($ms, $value) { delay($ms * 10); return $value; }); }
function failing(string $text) { return spawn(function () use ($text) { throw new LogicException($text); }); }
function dump(array $answer): void {
    [$results, $errors] = $answer;
    echo json_encode($results), ' ', json_encode(array_map(fn($e) => $e->getMessage(), $errors)), "\n";
}
dump(await_all(['a' => later(6, 1), 'b' => later(1, 2), 7 => later(3, 3)]));
dump(await_all(['a' => later(6, 1), 'b' => later(1, 2), 7 => later(3, 3)], preserveKeyOrder: false));
dump(await_all(['a' => later(3, 1), 'b' => failing('bad'), 'c' => later(1, 3)]));
dump(await_all(['a' => later(3, 1), 'b' => failing('bad'), 'c' => later(1, 3)], fillNull: true));
dump(await_all(['a' => later(3, 1), 'b' => failing('bad'), 'c' => later(1, 3)], null, false, true));
$same = later(1, 's');
dump(await_all([$same, $same, 'x' => $same]));
$cancelled = later(100, 1);
$cancelled->cancel();
dump(await_all([$cancelled]));
foreach ([[], new ArrayObject(), (function () { yield from []; })(), new EmptyIterator()] as $empty) {
    echo json_encode(await_all($empty)), "\n";
}
dump(await_all(new ArrayObject(['k' => later(1, 'v')])));
?>
--EXPECT--
{"a":1,"b":2,"7":3} []
{"b":2,"7":3,"a":1} []
{"a":1,"c":3} {"b":"bad"}
{"a":1,"b":null,"c":3} {"b":"bad"}
{"b":null,"c":3,"a":1} {"b":"bad"}
{"0":"s","1":"s","x":"s"} []
[] ["Coroutine cancelled"]
[[],[]]
[[],[]]
[[],[]]
[[],[]]
{"k":"v"} []
