--TEST--
Transparent I/O: pclose() in a coroutine of what was opened before the first one
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await_all, spawn};

$ended = popen('echo hi', 'r');
$waits = popen('read line; exit 3', 'w');
$first = spawn(function () use ($ended) {
    var_dump(fgets($ended), pclose($ended));
    [$in, $out] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);  // one of them has got its number
    $writer = spawn(function () use ($in, $out) {
        fwrite($in, "to out\n");
        fwrite($out, "to in\n");
    });
    var_dump(fgets($in), fgets($out));
    await_all([$writer]);
});
await_all([$first]);

$order = [];
await_all([
    spawn(function () use ($waits, &$order) {
        $code = pclose($waits);
        $order[] = "pclose $code";
    }),
    spawn(function () use (&$order) {
        $order[] = 'another';
    }),
]);
echo implode(', ', $order), "\n";
?>
--EXPECT--
string(3) "hi
"
int(0)
string(6) "to in
"
string(7) "to out
"
another, pclose 3
