--TEST--
Channels, timers, signals and pools left open do not keep the process
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay, signal, timeout, await};
use Async\{Channel, Pool, Signal};

$began = hrtime(true);
register_shutdown_function(function () use ($began) { var_dump((hrtime(true) - $began) / 1e9 < 5); });
$channel = new Channel(1);
$channel->send('left');
$soft = new Channel(1, noProducerTimeout: 60000, noConsumerTimeout: 60000);
$soft->sendAsync(1);
$future = signal(Signal::SIGUSR1)->ignore();
$pool = new Pool(fn() => 1, healthcheck: fn() => true, healthcheckInterval: 50, min: 1);
$pool->release($pool->acquire());
$token = timeout(60000);
await(spawn(fn() => 1), $token);
$file = fopen('php://memory', 'r');
echo "main ends\n";
?>
--EXPECT--
main ends
bool(true)
