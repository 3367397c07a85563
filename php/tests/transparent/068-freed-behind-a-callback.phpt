--TEST--
Transparent I/O: what is freed when a cancelled callback ends still waits for its own, whatever has called the callback
--EXTENSIONS--
true_async
zlib
--FILE--
<?php
use function Async\{spawn, await, delay, suspend};

/** How much more than what has filled the pipe arrives of a stream with a filter, which is flushed when it is freed. */
function arrives(string $by, callable $call, callable $pause): void {
    [$reader, $writer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    stream_set_blocking($writer, false);
    for ($filled = 0; ($size = @fwrite($writer, str_repeat('x', 8192))) > 0; $filled += $size);
    stream_set_blocking($writer, true);
    $box = new ArrayObject([$writer]);
    unset($writer);
    $coroutine = spawn(function () use ($call, $box, $pause) {
        $call(function () use ($box, $pause) {
            $stream = $box[0];
            unset($box[0]);
            stream_filter_append($stream, 'zlib.deflate', STREAM_FILTER_WRITE);
            fwrite($stream, 'hello');
            $pause();
        });
    });
    unset($box);
    for ($i = 0; $i < 3; $i++) suspend();
    $coroutine->cancel();
    for ($i = 0; $i < 3; $i++) suspend();
    echo $by, ': ', gzinflate(substr(stream_get_contents($reader), $filled)), ' ', json_encode($coroutine->isCancelled()), "\n";
}
foreach (['delay' => fn() => delay(60_000), 'usleep' => fn() => usleep(60_000_000)] as $how => $pause) {
    echo "$how\n";
    arrives('array_map', fn($body) => array_map($body, [1]), $pause);
    arrives('call_user_func', fn($body) => call_user_func_array('call_user_func', [$body]), $pause);
    arrives('reflection', fn($body) => (new ReflectionFunction($body))->invoke(), $pause);
    arrives('usort', function ($body) { $list = [2, 1]; usort($list, $body); }, $pause);
    arrives('generator', fn($body) => (function () use ($body) { yield $body(); })()->current(), $pause);
    arrives('iterator_to_array', fn($body) => iterator_to_array((function () use ($body) { yield $body(); })()), $pause);
    arrives('body of a generator', fn($body) => iterator_to_array((function () use ($body) {
        $filter = (new ReflectionFunction($body))->getStaticVariables();
        $stream = $filter['box'][0];
        unset($filter['box'][0]);
        stream_filter_append($stream, 'zlib.deflate', STREAM_FILTER_WRITE);
        fwrite($stream, 'hello');
        $filter['pause']();
        yield 1;
    })()), $pause);
}
?>
--EXPECT--
delay
array_map: hello true
call_user_func: hello true
reflection: hello true
usort: hello true
generator: hello true
iterator_to_array: hello true
body of a generator: hello true
usleep
array_map: hello true
call_user_func: hello true
reflection: hello true
usort: hello true
generator: hello true
iterator_to_array: hello true
body of a generator: hello true
