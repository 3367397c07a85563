--TEST--
await_any_or_fail() and await_first_success()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_any_or_fail, await_first_success, delay, suspend, get_coroutines};

function later(int $ms, mixed $value) { return spawn(function () use ($ms, $value) { delay($ms * 10); return $value; }); }
function failing(string $text, int $ms = 0) { return spawn(function () use ($text, $ms) { delay($ms * 10); throw new LogicException($text); }); }

var_dump(await_any_or_fail([]));
$slow = later(20, 'slow');
var_dump(await_any_or_fail(['a' => $slow, 'b' => later(1, 'quick')]));
var_dump($slow->isCompleted());
try {
    await_any_or_fail([later(20, 'slow'), failing('first')]);
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
function dump(array $answer): void {
    var_dump(array_is_list($answer), count($answer));
    echo json_encode($answer[0]), ' ', json_encode(array_map(fn($e) => $e->getMessage(), $answer[1])), "\n";
}
dump(await_first_success(['a' => failing('x'), 'b' => later(2, 'won'), 'c' => later(20, 'late')]));
dump(await_first_success(['a' => failing('x'), 'b' => failing('y', 1)]));
dump(await_first_success([]));
?>
--EXPECT--
NULL
string(5) "quick"
bool(false)
first
bool(true)
int(2)
"won" {"a":"x"}
bool(true)
int(2)
null {"a":"x","b":"y"}
bool(true)
int(2)
null []
