--TEST--
Transparent I/O: several coroutines on one stream: reads take turns, the other direction is free, cancelling one does not disturb the others
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

function pair(): array { return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); }
function settle(): void { for ($i = 0; $i < 5; $i++) suspend(); }

[$a, $b] = pair();
$readers = [];
foreach (['fgets', 'fgets', 'fgets'] as $read) {
    $readers[] = spawn(fn() => $read($a));
}
settle();
fwrite($b, 'o');  // nobody has a line yet
settle();
$readers[1]->cancel();
settle();
fwrite($b, "ne\ntwo\n");
echo json_encode([await($readers[0]), await($readers[2])]), "\n";

// Who waits for the turn and who has it may be cancelled at once.
$readers = [];
for ($i = 0; $i < 5; $i++) {
    $readers[] = spawn(fn() => fread($a, 100));
}
settle();
fwrite($b, 'for the first');
echo json_encode(await($readers[0])), "\n";
settle();
$readers[1]->cancel();
$readers[2]->cancel();
settle();
fwrite($b, 'for the fourth');
echo json_encode(await($readers[3])), "\n";
settle();
$writer = spawn(fn() => fwrite($a, "meanwhile\n"));  // the fifth is reading
echo await($writer), ' ', json_encode(fgets($b)), "\n";
fclose($b);
echo json_encode(await($readers[4])), "\n";

// Closed while one reads and others wait for their turn.
[$a, $b] = pair();
$readers = [spawn(fn() => @fgets($a)), spawn(function () use ($a) {
    try {
        return fgets($a);
    } catch (TypeError $e) {
        return $e->getMessage();
    }
})];
settle();
fclose($a);
echo json_encode(array_map(fn($one) => await($one), $readers)), "\n";

// Many at once, each line whole.
[$a, $b] = pair();
$readers = [];
for ($i = 0; $i < 50; $i++) {
    $readers[] = spawn(fn() => fgets($a));
}
spawn(function () use ($b) {
    for ($i = 0; $i < 50; $i++) {
        foreach (str_split(sprintf("%s%02d\n", str_repeat('x', 500), $i), 100) as $piece) {
            fwrite($b, $piece);
            suspend();
        }
    }
});
$got = array_map(fn($line) => substr(trim($line), -2) . strlen($line), await_all($readers)[0]);
sort($got);
echo count(array_unique($got)), ' ', $got[0], ' ', $got[49], "\n";

// Several accept on one listening socket.
$server = stream_socket_server('tcp://127.0.0.1:0');
$all = [];
for ($i = 0; $i < 3; $i++) {
    $all[] = spawn(fn() => fgets(stream_socket_accept($server, 5)));
}
settle();
for ($i = 0; $i < 3; $i++) {
    fwrite(stream_socket_client('tcp://' . stream_socket_get_name($server, false)), "hello\n");
}
echo implode(' ', array_map('trim', await_all($all)[0])), "\n";
?>
--EXPECT--
["one\n","two\n"]
"for the first"
"for the fourth"
10 "meanwhile\n"
""
[false,"fgets(): supplied resource is not a valid stream resource"]
50 00503 49503
hello hello hello
