--TEST--
Transparent I/O: who calls a cURL multi handle waits while a callback of it waits; a handle in a callback is refused
--EXTENSIONS--
curl
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, delay};

$is_inside = false;
function handle(?callable $write = null): CurlHandle {
    $handle = curl_init('file://' . __FILE__);
    curl_setopt($handle, $write === null ? CURLOPT_RETURNTRANSFER : CURLOPT_WRITEFUNCTION, $write ?? true);
    return $handle;
}
$wait = function ($handle, $data) use (&$is_inside) {
    $is_inside = true;
    delay(5);
    $is_inside = false;
    return strlen($data);
};
$run = function (CurlMultiHandle $multi): void {
    do {
        if (($code = curl_multi_exec($multi, $running)) !== 0) {
            echo "exec: $code\n";
            break;
        }
        if ($running && curl_multi_select($multi, 0.1) < 0) {
            echo "select failed\n";
        }
    } while ($running);
};

$multi = curl_multi_init();
$slow = handle($wait);
curl_multi_add_handle($multi, $slow);
$all = [spawn($run, $multi), spawn($run, $multi), spawn(function () use ($multi, $run, &$is_inside) {
    $handle = handle();
    echo 'inside: ', json_encode($is_inside), "\n";
    echo 'add: ', curl_multi_add_handle($multi, $handle), ', inside: ', json_encode($is_inside), "\n";
    $run($multi);
    echo curl_multi_getcontent($handle) === file_get_contents(__FILE__) ? "all there\n" : "wrong data\n";
    echo 'remove: ', curl_multi_remove_handle($multi, $handle), "\n";
}), spawn(fn() => print('select: ' . curl_multi_select($multi, 0) . "\n"))];
await_all($all);
echo 'result: ', curl_multi_info_read($multi)['result'], "\n";

// The callback's own coroutine is told what PHP tells.
$multi = curl_multi_init();
$handle = handle(function ($handle, $data) use ($multi) {
    delay(1);
    echo 'from inside: ', curl_multi_add_handle($multi, handle()), "\n";
    return strlen($data);
});
curl_multi_add_handle($multi, $handle);
await(spawn($run, $multi));

// One handle is for one coroutine, also while its callback waits.
$handle = handle($wait);
$one = spawn(fn() => curl_exec($handle));
Async\suspend();
foreach (['curl_exec' => [$handle], 'curl_reset' => [$handle], 'curl_setopt' => [$handle, CURLOPT_URL, 'file:///']] as $name => $arguments) {
    try {
        $name(...$arguments);
        echo "not reached\n";
    } catch (Async\AsyncException $e) {
        echo substr($e->getMessage(), 0, strlen("$name(): this CurlHandle is in use")), "\n";
    }
}
var_dump(await($one));
?>
--EXPECT--
inside: true
add: 0, inside: false
select: 0
all there
remove: 0
result: 0
from inside: 8
curl_exec(): this CurlHandle is in use
curl_reset(): this CurlHandle is in use
curl_setopt(): this CurlHandle is in use
bool(true)
