--TEST--
await_*: what is left runs on; errors that were given to the caller do not come up again
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all, await_any_or_fail, await_first_success, await_any_of, await_any_of_or_fail, await_all_or_fail, delay};

$left = [];
function task(string $name, int $turns, bool $fails = false) {
    return spawn(function () use ($name, $turns, $fails) {
        for ($i = 0; $i < $turns; $i++) suspend();
        if ($fails) throw new LogicException($name);
        echo "$name\n";
        return $name;
    });
}
echo json_encode(await_any_or_fail([task('a1', 1), task('a2', 5)])), "\n";
[$winner, $errors] = await_first_success([task('b1', 1, true), task('b2', 3), task('b3', 40)]);
echo json_encode([$winner, count($errors)]), "\n";
[$results, $errors] = await_any_of(1, ['x' => task('c1', 1, true), 'y' => task('c2', 2), 'z' => task('c3', 60)]);
echo json_encode([$results, count($errors)]), "\n";
try { await_all_or_fail([task('d1', 1, true), task('d2', 3)]); } catch (LogicException $e) { echo 'thrown ', $e->getMessage(), "\n"; }
for ($i = 0; $i < 80; $i++) suspend();
echo "main ends\n";
?>
--EXPECT--
a1
"a1"
a2
b2
["b2",1]
c2
[{"y":"c2"},1]
thrown d1
d2
b3
c3
main ends
