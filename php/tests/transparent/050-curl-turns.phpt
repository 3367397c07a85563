--TEST--
Transparent I/O: curl_exec always lets others run, curl_multi_select when nothing is ready
--EXTENSIONS--
curl
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all};

function show(string $name, callable $call): void {
    $log = [];
    $one = spawn(function () use ($call, &$log) { $log[] = 'begin'; $call(); $log[] = 'end'; });
    $other = spawn(function () use (&$log) { $log[] = 'other'; });
    await_all([$one, $other]);
    echo "$name: ", implode(' ', $log), "\n";
}
function get(string $url): string|bool {
    $handle = curl_init($url);
    curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
    return curl_exec($handle);
}

show('refused', fn() => get('http://127.0.0.1:1/'));
show('file', fn() => get('file://' . __FILE__));
show('no such protocol', fn() => get('nosuch://here/'));
show('no address', fn() => curl_exec(curl_init()));
show('multi handle without transfers', fn() => curl_multi_select(curl_multi_init(), 0.01));
show('the same, no time', fn() => curl_multi_select(curl_multi_init(), 0));
show('a transfer that waits', function () {
    $server = stream_socket_server('unix:///' . sys_get_temp_dir() . '/curl-turns-' . getmypid());
    $handle = curl_init('http://localhost/');
    curl_setopt($handle, CURLOPT_UNIX_SOCKET_PATH, sys_get_temp_dir() . '/curl-turns-' . getmypid());
    $multi = curl_multi_init();
    curl_multi_add_handle($multi, $handle);
    curl_multi_exec($multi, $running);
    curl_multi_exec($multi, $running);
    curl_multi_select($multi, 0);
    unlink(sys_get_temp_dir() . '/curl-turns-' . getmypid());
});

// Cancelled in that turn.
foreach (['curl_exec' => fn() => get('file://' . __FILE__), 'curl_multi_select' => fn() => curl_multi_select(curl_multi_init(), 0)] as $name => $call) {
    $one = spawn(function () use ($call) { $call(); echo "not reached\n"; });
    spawn(fn() => $one->cancel());
    try {
        await($one);
    } catch (Async\AsyncCancellation) {
        echo "$name: cancelled\n";
    }
}
?>
--EXPECT--
refused: begin other end
file: begin other end
no such protocol: begin other end
no address: begin other end
multi handle without transfers: begin other end
the same, no time: begin other end
a transfer that waits: begin other end
curl_exec: cancelled
curl_multi_select: cancelled
