--TEST--
Generators that suspend, and generators that wander between coroutines
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, await_all};

function numbers(string $n) { try { foreach ([1, 2, 3] as $i) { suspend(); $got = yield $i; if ($got) echo "$n got $got\n"; } } finally { echo "$n ends\n"; } return "r$n"; }
$each = fn($n) => spawn(function () use ($n) { $all = []; foreach ($g = numbers($n) as $i) $all[] = "$n$i"; return implode(' ', $all) . ' ' . $g->getReturn(); });
print_r(await_all([$each('a'), $each('b')])[0]);

// Begun in one coroutine, continued in others.
$g = numbers('w');
$g->current();
echo await(spawn(function () use ($g) { $g->next(); return $g->current(); })), "\n";
echo await(spawn(function () use ($g) { return $g->send('x'); })), "\n";
// While it runs in one coroutine, another cannot resume it.
$slow = (function () { yield 1; suspend(); suspend(); yield 2; })();
$slow->current();
$one = spawn(function () use ($slow) { $slow->next(); return $slow->current(); });
$two = spawn(function () use ($slow) { $slow->next(); });
[$results, $errors] = await_all([$one, $two]);
echo $results[0], ' ', $errors[1]->getMessage(), "\n";
// yield from, across suspensions.
$outer = (function () { yield 0; yield from numbers('n'); })();
echo await(spawn(fn() => implode(',', iterator_to_array($outer, false)))), "\n";
// Dropped in the middle: finally runs, and may suspend.
$d = (function () { try { yield 1; yield 2; } finally { suspend(); echo "finally of the dropped one\n"; } })();
$d->current();
unset($d);
// A cancelled coroutine inside a generator.
$c = spawn(function () { foreach (numbers('c') as $i) suspend(); });
suspend();
$c->cancel();
suspend();
unset($g);
?>
--EXPECT--
a ends
b ends
Array
(
    [0] => a1 a2 a3 ra
    [1] => b1 b2 b3 rb
)
2
w got x
3
2 Cannot resume an already running generator
n ends
0,1,2,3
finally of the dropped one
c ends
w ends
