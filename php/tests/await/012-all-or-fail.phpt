--TEST--
await_all_or_fail(), await_any_of_or_fail(), await_any_of()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_all_or_fail, await_any_of_or_fail, await_any_of, delay, get_coroutines};

function later(int $ms, mixed $value) { return spawn(function () use ($ms, $value) { delay($ms * 10); return $value; }); }
function failing(string $text, int $ms = 0) { return spawn(function () use ($text, $ms) { delay($ms * 10); throw new LogicException($text); }); }
function outcome(Closure $action): void {
    try {
        echo json_encode($action()), "\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
outcome(fn() => await_all_or_fail([]));
outcome(fn() => await_all_or_fail(['x' => later(5, 1), 'y' => later(1, 2)]));
outcome(fn() => await_all_or_fail(['x' => later(5, 1), 'y' => later(1, 2)], preserveKeyOrder: false));
outcome(function () {
    $slow = later(50, 1);
    try {
        await_all_or_fail([$slow, failing('at once', 1)]);
    } finally {
        echo 'slow goes on: ', json_encode(!$slow->isCompleted()), "\n";
        $slow->cancel();
    }
});
outcome(fn() => await_any_of_or_fail(0, [later(50, 1)]));
outcome(fn() => await_any_of_or_fail(2, ['a' => later(150, 1), 'b' => later(1, 2), 'c' => later(4, 3)]));
outcome(fn() => await_any_of_or_fail(9, ['a' => later(2, 1), 'b' => later(1, 2)]));
outcome(fn() => await_any_of_or_fail(1, ['a' => spawn(fn() => 1), 'b' => spawn(fn() => 2)]));  // more than asked for
outcome(fn() => await_any_of_or_fail(2, [later(1, 1), failing('bad'), later(2, 2)]));
function pair(array $answer): array {
    return [$answer[0], array_map(fn($e) => $e->getMessage(), $answer[1])];
}
outcome(fn() => pair(await_any_of(2, ['a' => later(4, 1), 'b' => failing('bad'), 'c' => later(1, 3), 'd' => later(60, 4)])));
outcome(fn() => pair(await_any_of(3, ['a' => failing('x'), 'b' => later(1, 2)])));
outcome(fn() => pair(await_any_of(2, ['a' => failing('x'), 'b' => later(1, 2)], fillNull: true)));
outcome(fn() => pair(await_any_of(0, [later(60, 1)])));
?>
--EXPECT--
[]
{"x":1,"y":2}
{"y":2,"x":1}
slow goes on: true
LogicException: at once
[]
{"b":2,"c":3}
{"a":1,"b":2}
{"a":1,"b":2}
LogicException: bad
[{"a":1,"c":3},{"b":"bad"}]
[{"b":2},{"a":"x"}]
[{"a":null,"b":2},{"a":"x"}]
[[],[]]
