--TEST--
What starts the scheduler, and what does not
--EXTENSIONS--
true_async
--FILE--
<?php
function run(string $code): void {
    $file = __DIR__ . '/007-what-starts-it.inc.php';
    file_put_contents($file, '<?php use function Async\{spawn, spawn_with, suspend, await, await_all, await_any_or_fail, await_first_success, await_all_or_fail, await_any_of, await_any_of_or_fail, delay, iterate, current_context, coroutine_context, root_context, request_context, signal, timeout, protect, get_coroutines};
        use Async\{Scope, Channel, Pool, FutureState, Future, Signal, TaskGroup};
        function is_on() { return get_coroutines() ? "on" : "off"; }
        try { ' . $code . ' } catch (Throwable $e) { echo $e::class, " "; } echo is_on();');
    exec(getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . escapeshellarg($file) . ' 2>&1', $output);
    echo $code, ' ', implode(',', $output), "\n";
}
foreach ([
    'spawn(fn() => 1);',
    'spawn_with(new Scope(), fn() => 1);',
    '(new Scope())->spawn(fn() => 1);',
    'suspend();',
    'delay(1);',
    'await(Future::completed(1));',
    'await_any_or_fail([]);',
    'await_first_success([]);',
    'await_all([]);',
    'await_all_or_fail([]);',
    'await_any_of(1, []);',
    'await_any_of_or_fail(1, []);',
    'iterate([], fn() => 1);',
    'current_context();',
    'coroutine_context();',
    'root_context();',
    'signal(Signal::SIGUSR1)->ignore();',
    '$c = new Channel(1); $c->send(1);',
    '$c = new Channel(1); $c->close(); foreach ($c as $x) { }',
    '$p = new Pool(fn() => 1); $p->acquire();',
    '$s = new FutureState(); (new Future($s))->map(fn($x) => 1)->ignore(); $s->complete(1);',
    'new Fiber(fn() => 1);',
    'new Fiber();',
    'get_coroutines();',
    'Async\runtime_stats();',
    'Async\cpu_usage();',
    'Async\loadavg();',
    'Async\available_parallelism();',
    'timeout(5);',
    'protect(fn() => 1);',
    'new Scope();',
    'new Pool(fn() => 1);',
    '(new FutureState())->ignore();',
    'new Channel(1);',
    '$c = new Channel(1); $c->sendAsync(1); count($c); $c->isFull(); $c->isEmpty(); $c->capacity(); $c->close(); $c->isClosed();',
] as $code) {
    run($code);
}
?>
--CLEAN--
<?php @unlink(__DIR__ . '/007-what-starts-it.inc.php'); ?>
--EXPECT--
spawn(fn() => 1); on
spawn_with(new Scope(), fn() => 1); on
(new Scope())->spawn(fn() => 1); on
suspend(); on
delay(1); on
await(Future::completed(1)); on
await_any_or_fail([]); on
await_first_success([]); on
await_all([]); on
await_all_or_fail([]); on
await_any_of(1, []); on
await_any_of_or_fail(1, []); on
iterate([], fn() => 1); on
current_context(); on
coroutine_context(); on
root_context(); on
signal(Signal::SIGUSR1)->ignore(); on
$c = new Channel(1); $c->send(1); on
$c = new Channel(1); $c->close(); foreach ($c as $x) { } on
$p = new Pool(fn() => 1); $p->acquire(); on
$s = new FutureState(); (new Future($s))->map(fn($x) => 1)->ignore(); $s->complete(1); on
new Fiber(fn() => 1); on
new Fiber(); ArgumentCountError on
get_coroutines(); off
Async\runtime_stats(); off
Async\cpu_usage(); off
Async\loadavg(); off
Async\available_parallelism(); off
timeout(5); off
protect(fn() => 1); off
new Scope(); off
new Pool(fn() => 1); off
(new FutureState())->ignore(); off
new Channel(1); off
$c = new Channel(1); $c->sendAsync(1); count($c); $c->isFull(); $c->isEmpty(); $c->capacity(); $c->close(); $c->isClosed(); off
