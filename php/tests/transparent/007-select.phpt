--TEST--
Transparent I/O: stream_select in a coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

function pair() { return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); }
function in_coroutine(string $name, callable $function): void {
    echo "$name: ", json_encode(await(spawn($function))), "\n";
}
in_coroutine('keys are kept', function () {
    [$a, $b] = pair();
    [$c, $d] = pair();
    $r = ['one' => $a, 'two' => $c];
    $w = ['three' => $b];
    $e = null;
    spawn(fn() => fwrite($d, 'x'));
    $both = stream_select($r, $w, $e, 5);
    $r2 = ['one' => $a, 'two' => $c];
    $w2 = null;
    return [$both, array_keys($r), array_keys($w), stream_select($r2, $w2, $e, 5), array_keys($r2)];
});
in_coroutine('what PHP has read already', function () {
    [$a, $b] = pair();
    fwrite($b, "one\ntwo\n");
    fgets($a);
    $r = [$a];
    $w = $e = null;
    return stream_select($r, $w, $e, null);
});
in_coroutine('zero', function () {
    [$a, $b] = pair();
    $r = [$a];
    $w = $e = null;
    return [stream_select($r, $w, $e, 0), $r];
});
in_coroutine('nothing', function () {
    $r = $w = [];
    $e = null;
    return stream_select($r, $w, $e, 0);
});
in_coroutine('a peer that closed', function () {
    [$a, $b] = pair();
    spawn(fn() => fclose($b));
    $r = [$a];
    $w = $e = null;
    return [stream_select($r, $w, $e, null), fread($a, 10)];
});
in_coroutine('sockets and pipes', function () {
    [$a, $b] = pair();
    $pipe = popen('echo hi', 'r');
    $r = [$a, $pipe];
    $w = $e = null;
    return [stream_select($r, $w, $e, 5), array_keys($r), fgets($pipe), pclose($pipe)];
});
in_coroutine('wrong element', function () {
    [$a, $b] = pair();
    $r = ['no stream', $a];
    $w = $e = null;
    try {
        return stream_select($r, $w, $e, 0);
    } catch (TypeError $e) {
        return $e->getMessage();
    }
});
$begin = hrtime(true);
for ($i = 0; $i < 20; $i++) {
    $all[] = spawn(function () {
        [$a, $b] = pair();
        $r = [$a];
        $w = $e = null;
        return stream_select($r, $w, $e, 0, 100_000);
    });
}
await_all($all);
echo (hrtime(true) - $begin) / 1e9 < 1 ? "at once\n" : "one after another\n";
?>
--EXPECT--
keys are kept: [1,[],["three"],1,["two"]]
what PHP has read already: 1
zero: [0,[]]
nothing: 0
a peer that closed: [1,""]
sockets and pipes: [1,[1],"hi\n",0]
wrong element: "stream_select(): supplied argument is not a valid stream resource"
at once
