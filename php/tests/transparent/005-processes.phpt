--TEST--
Transparent I/O: exec family, popen, proc_open: output, codes, signals, twenty children
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

function in_coroutine(string $name, callable $function): void {
    echo "$name: ", json_encode(await(spawn($function))), "\n";
}

in_coroutine('exec', function () {
    $last = exec("printf '  a \\t\\r\\n\\nb'", $lines, $code);
    return [$last, $lines, $code];
});
in_coroutine('no output', function () {
    $last = exec('exit 3', $lines, $code);
    return [$last, $lines, $code];
});
in_coroutine('a long line', fn() => strlen(exec("head -c 100000 /dev/zero | tr '\\0' x")));
in_coroutine('shell_exec', fn() => shell_exec("printf 'a\\nb \\n'"));
in_coroutine('system', function () {
    ob_start();
    $last = system("printf 'a\\nb  \\n'");
    return [$last, ob_get_clean()];
});
in_coroutine('passthru', function () {
    ob_start();
    passthru("printf 'raw\\n'; exit 4", $code);
    return [ob_get_clean(), $code];
});
in_coroutine('chdir', function () {
    chdir('/usr');
    return [exec('pwd'), exec('cd /; pwd'), shell_exec('pwd')];
});
in_coroutine('popen to read', function () {
    $pipe = popen('echo hi; exit 5', 'r');
    return [fgets($pipe), fgets($pipe), pclose($pipe)];
});
in_coroutine('popen to write', function () {
    $pipe = popen('read line; test "$line" = hello && exit 6', 'w');
    fwrite($pipe, "hello\n");
    return pclose($pipe);
});
in_coroutine('proc_open', function () {
    $process = proc_open('cat; exit 7', [['pipe', 'r'], ['pipe', 'w']], $pipes);
    $reader = spawn(fn() => stream_get_contents($pipes[1]));
    suspend();
    fwrite($pipes[0], str_repeat('x', 300000));
    fclose($pipes[0]);
    return [strlen(await($reader)), proc_close($process)];
});
in_coroutine('killed', fn() => proc_close(proc_open('kill -9 $$', [], $pipes)));
in_coroutine('the same number', fn() => proc_close(proc_open('exit 9', [], $pipes)));
in_coroutine('seen before', function () {
    $process = proc_open('exit 5', [], $pipes);
    while (($status = proc_get_status($process))['running']) {
        usleep(1000);
    }
    return [$status['exitcode'], proc_close($process)];
});
in_coroutine('twenty', function () {
    for ($i = 0; $i < 20; $i++) {
        $all[] = spawn(fn() => proc_close(proc_open("sleep 0.05; exit $i", [], $pipes)));
    }
    return implode(' ', await_all($all)[0]);
});

// At the same time: less than half of one after another.
foreach (['exec', 'shell_exec', 'system', 'passthru'] as $function) {
    $begin = hrtime(true);
    $all = [];
    for ($i = 0; $i < 20; $i++) {
        $all[] = spawn($function, 'sleep 0.2');
    }
    await_all($all);
    $took = (hrtime(true) - $begin) / 1e9;
    echo $function, ' ', $took < 2 ? 'at once' : "one after another: $took", "\n";
}
?>
--EXPECT--
exec: ["b",["  a","","b"],0]
no output: ["",[],3]
a long line: 100000
shell_exec: "a\nb \n"
system: ["b","a\nb  \n"]
passthru: ["raw\n",4]
chdir: ["\/usr","\/","\/usr\n"]
popen to read: ["hi\n",false,5]
popen to write: 6
proc_open: [300000,7]
killed: -9
the same number: 9
seen before: [5,5]
twenty: "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"
exec at once
shell_exec at once
system at once
passthru at once
