--TEST--
spawn(): arguments more or fewer than parameters, by reference, variadic, counted, wrong types
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

class Thing {
    public function __construct(public string $name) {}
    public function __destruct() { echo "gone: $this->name\n"; }
}
function by_reference(array &$list) { $list[] = 'seen'; suspend(); return count($list); }
function &returns_reference($value) { static $kept; $kept = $value; return $kept; }

$list = ['one'];
echo await(spawn(by_reference(...), $list)), ' ', count($list), "\n";
echo await(spawn('by_reference', $list)), ' ', count($list), "\n";

echo implode(' ', await(spawn(function ($a) { suspend(); return func_get_args(); }, 1, 2, 3))), "\n";
echo await(spawn(function ($a, ...$more) { suspend(); return $a . ':' . implode('+', $more); }, 1, 2, 3)), "\n";
echo await(spawn(fn($a, $b = 'default') => "$a $b", 'first')), "\n";
echo await(spawn(returns_reference(...), 'through a reference')), "\n";

try {
    await(spawn(function ($a, $b) {}, 1));
} catch (ArgumentCountError $error) {
    echo preg_replace('/ in .*/', '', $error->getMessage()), "\n";
}
try {
    await(spawn(function (int $number) {}, 'no number'));
} catch (TypeError $error) {
    echo preg_replace('/, called.*/', '', $error->getMessage()), "\n";
}

// Everybody holds the argument until the coroutine has ended, and nobody longer.
$coroutine = spawn(function (Thing $thing, Thing $extra) { suspend(); echo "with $thing->name\n"; }, new Thing('a'), new Thing('b'), new Thing('c'));
suspend();
echo "waits\n";
await($coroutine);
echo "ended\n";
unset($coroutine);

// Cancelled before it begins: its arguments go too.
$coroutine = spawn(function (Thing $thing) {}, new Thing('d'));
$coroutine->cancel();
suspend();
unset($coroutine);
echo "end\n";
?>
--EXPECTF--
Warning: by_reference(): Argument #1 ($list) must be passed by reference, value given in %s on line %d
2 1

Warning: by_reference(): Argument #1 ($list) must be passed by reference, value given in %s on line %d
2 1
1 2 3
1:2+3
first default
through a reference
Too few arguments to function {closure%S}(), 1 passed and exactly 2 expected
{closure%S}(): Argument #1 ($number) must be of type int, string given
waits
with a
gone: a
gone: b
gone: c
ended
gone: d
end
