--TEST--
Transparent I/O: who waits in the same function for the same stream again and again is known to others each time; also when functions, streams and readers change
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend};

function pair(): array { return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); }
function settle(): void { for ($i = 0; $i < 5; $i++) suspend(); }

[$a, $b] = pair();
[$c, $d] = pair();

// Each round it waits in fgets() of the same stream; from the second on that is noted already.
$got = [];
$first = spawn(function () use ($a, $c, &$got) {
    for ($i = 0; $i < 3; $i++) {
        $got[] = "first " . trim(fgets($a));
        suspend(); // whoever waits for the turn has it now
    }
    $got[] = 'first ' . fread($a, 4);    // another function
    $got[] = 'first ' . trim(fgets($c)); // another stream
    $got[] = 'first ' . trim(fgets($a)); // as before
});
settle();
for ($i = 0; $i < 3; $i++) {
    $other = spawn(function () use ($a, &$got) { $got[] = 'other ' . trim(fgets($a)); });
    settle();
    fwrite($b, "on");
    settle();          // a part of a line: the other would take the rest if it were let in
    fwrite($b, "e\n"); // the first has it, and the other is next
    settle();
    fwrite($b, "two\n");
    await($other);
    settle();
}
$other = spawn(function () use ($a, &$got) { $got[] = 'other ' . trim(fgets($a)); });
settle();
fwrite($b, 'four');
settle();
fwrite($b, "five\n");
await($other);
// The first waits in the other stream now: this one is free.
$other = spawn(function () use ($a, &$got) { $got[] = 'other ' . trim(fgets($a)); });
settle();
fwrite($b, "free\n");
await($other);
$other = spawn(function () use ($c, &$got) { $got[] = 'other ' . trim(fgets($c)); });
settle();
fwrite($d, "six\n");
settle();
fwrite($d, "seven\n");
await($other);
// Somebody else has used this one since.
$other = spawn(function () use ($a, &$got) { $got[] = 'other ' . trim(fgets($a)); });
settle();
fwrite($b, "eight\n");
settle();
fwrite($b, "nine\n");
await($first);
await($other);
echo implode("\n", $got), "\n";

// A resource that was closed, and another one in its place: who waits there is refused the same way.
for ($i = 0; $i < 3; $i++) {
    [$a, $b] = pair();
    $reader = spawn(fn() => fgets($a));
    $second = spawn(fn() => fgets($a));
    settle();
    fwrite($b, "x\n");
    settle();
    fwrite($b, "y\n");
    echo trim(await($reader)), trim(await($second)), ' ';
    fclose($a);
    fclose($b);
}
echo "\n";
?>
--EXPECT--
first one
other two
first one
other two
first one
other two
first four
other five
other free
first six
other seven
first eight
other nine
xy xy xy 
