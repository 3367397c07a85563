<?php
// Ten jobs, three workers, two connections: a channel hands out the jobs, a pool the connections.
// Run it: ./dev php examples/php/worker_pool.php

use Async\{Channel, Pool, TaskGroup};
use function Async\{await, delay};

final class Connection {
    private static int $opened = 0;
    public readonly int $number;

    public function __construct() {
        $this->number = ++self::$opened;
    }
    public function query(int $job): int {
        delay(2);
        return $job * $job;
    }
}

$connections = new Pool(fn() => new Connection(), fn(Connection $c) => print("connection $c->number closed\n"), max: 2);
$jobs = new Channel(10);
for ($job = 1; $job <= 10; $job++) {
    $jobs->send($job);
}
$jobs->close();

$workers = new TaskGroup();
for ($worker = 1; $worker <= 3; $worker++) {
    $workers->spawn(function () use ($jobs, $connections): array {
        $done = [];
        foreach ($jobs as $job) {
            $connection = $connections->acquire();
            try {
                $done[$job] = $connection->query($job);
            } finally {
                $connections->release($connection);
            }
        }
        return $done;
    });
}

$results = array_replace(...await($workers->all()));
ksort($results);
echo implode(' ', $results), "\n";
echo 'connections opened: ', count($connections), "\n";
$connections->close();
