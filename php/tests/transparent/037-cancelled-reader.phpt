--TEST--
Transparent I/O: cancelling a reader is not the end of the stream for the others, nor for later; turns come in order
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend, timeout};

function pair(): array { return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); }
function settle(): void { for ($i = 0; $i < 5; $i++) suspend(); }

foreach (['fgets', 'fgetcsv', fn($s) => stream_get_contents($s, 4), fn($s) => fscanf($s, '%s'), fn($s) => fread($s, 9)] as $read) {
    [$a, $b] = pair();
    $first = spawn(fn() => $read($a));
    $second = spawn(fn() => $read($a));
    settle();
    $first->cancel();
    settle();
    echo json_encode(feof($a)), ' ';
    fwrite($b, "hey\n");
    echo json_encode(await($second)), "\n";
}

// With a time limit, and once more later.
[$a, $b] = pair();
$reader = spawn(fn() => fgets($a));
try {
    await($reader, timeout(5));
} catch (Throwable) {
    $reader->cancel();
}
settle();
fwrite($b, "late\n");
var_dump(fgets($a), feof($a));
fclose($b);
var_dump(fgets($a), feof($a));

// One that reads all the time lets the other have every second line.
[$a, $b] = pair();
$got = [];
foreach (['x', 'y'] as $name) {
    $readers[] = spawn(function () use ($a, $name, &$got) {
        for ($i = 0; $i < 3; $i++) {
            $got[] = $name . trim(fgets($a));
        }
    });
}
for ($i = 0; $i < 6; $i++) {
    settle();
    fwrite($b, "$i\n");
}
array_map(fn($reader) => await($reader), $readers);
echo implode(' ', $got), "\n";

?>
--EXPECT--
false "hey\n"
false ["hey"]
false "hey\n"
false ["hey"]
false "hey\n"
string(5) "late
"
bool(false)
bool(false)
bool(true)
x0 y1 x2 y3 x4 y5
