<?php
// What a request asks for in its query: each kind of end that a script can have.
use function Async\{await, delay, spawn, suspend};

if (isset($_GET['slow'])) {
    // Several print, and log, to a reader who begins to read when all of them are in the middle of it.
    $lines = function (string $name) {
        for ($i = 0; $i < 10000; $i++) {
            echo str_pad("$name$i", 99, $name) . "\n";
        }
    };
    spawn($lines, 'a');
    spawn($lines, 'b');
    spawn(function () {
        for ($i = 0; $i < 100; $i++) {
            error_log(str_pad("l$i", 499, 'l'));
        }
    });
    spawn(function () { flush(); });
    spawn(fn() => fclose(stream_socket_client($_GET['slow'])));
    return;
}

function counts(int $n): int {
    suspend();
    return $n + 1;
}

switch ($_SERVER['QUERY_STRING'] ?? '') {
    case 'plain':
        echo 'plain';
        break;
    case 'pid':
        echo getmypid();
        break;
    case 'await':
        $sum = 0;
        foreach (array_map(fn($n) => spawn('counts', $n), range(1, 5)) as $coroutine) {
            $sum += await($coroutine);
        }
        delay(1);
        echo "sum $sum";
        break;
    case 'not-awaited':
        spawn(function () {
            suspend();
            echo 'after main';
        });
        break;
    case 'uncaught':
        spawn(function () {
            suspend();
            throw new LogicException('of a coroutine');
        });
        break;
    case 'exit':
        register_shutdown_function(function () { echo ', shutdown'; });
        spawn(function () {
            suspend();
            exit('left');
        });
        delay(10000);
        echo 'never';
        break;
    case 'deadlock':
        (new Async\Channel(0))->recv();
        echo 'never';
        break;
    case 'fatal':
        spawn(function () {
            suspend();
            trigger_error('of a coroutine', E_USER_ERROR);
        });
        spawn(fn() => delay(10000));
        suspend();
        suspend();
        echo 'never';
        break;
    case 'memory':
        spawn(function () {
            suspend();
            str_repeat('x', 1 << 30);
        });
        suspend();
        suspend();
        echo 'never';
        break;
    case 'cycle':
        $channel = new Async\Channel(1);
        $coroutine = spawn(function () use (&$coroutine, $channel) {
            $own = [$coroutine, $channel];
            $own[] = &$own;
            suspend();
        });
        $coroutine->finally(fn() => $coroutine);
        echo 'cycle';
        break;
    case 'fiber':
        suspend();
        $fiber = new Fiber(function () { Fiber::suspend(1); delay(1); return 2; });
        echo $fiber->start();
        $fiber->resume();
        echo $fiber->getReturn();
        (new Fiber(function () { Fiber::suspend(); }))->start();
        break;
}
