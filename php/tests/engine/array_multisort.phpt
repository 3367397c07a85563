--TEST--
array_multisort() of several coroutines, whose objects suspend while they are compared: each sorts as it was asked to
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await_all, delay, spawn, suspend};

class Text
{
    public function __construct(private string $text, private int $pause) {}

    public function __toString(): string
    {
        $this->pause > 0 ? delay($this->pause) : suspend();
        return $this->text;
    }
}

function sorted(int $order, int $flags, int $pause): string
{
    $texts = array_map(fn($text) => new Text($text, $pause), ['10', '9', '100', '1', '9']);
    $numbers = [1, 2, 3, 4, 0];
    array_multisort($texts, $order, $flags, $numbers, SORT_ASC, SORT_NUMERIC);
    return implode(' ', $texts) . ' / ' . implode(' ', $numbers);
}

function plain(): string
{
    $numbers = [3, 1, 2, 10, 9];
    array_multisort($numbers, SORT_DESC, SORT_NUMERIC);
    return implode(' ', $numbers);
}

[$results, $errors] = await_all([
    spawn(sorted(...), SORT_ASC, SORT_STRING, 0),
    spawn(plain(...)),
    spawn(sorted(...), SORT_DESC, SORT_NATURAL, 1),
    spawn(plain(...)),
    spawn(sorted(...), SORT_ASC, SORT_NATURAL, 0),
]);
echo implode("\n", $results), "\n", count($errors), "\n";

// One that is cancelled in the middle leaves it to the next.
$cut = spawn(sorted(...), SORT_ASC, SORT_STRING, 1000);
suspend();
$next = spawn(plain(...));
$cut->cancel();
echo await_all([$next])[0][0], "\n";
?>
--EXPECT--
1 10 100 9 9 / 4 1 3 0 2
10 9 3 2 1
100 10 9 9 1 / 3 1 0 2 4
10 9 3 2 1
1 9 9 10 100 / 4 0 2 1 3
0
10 9 3 2 1
