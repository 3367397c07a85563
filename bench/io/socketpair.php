<?php
// A byte to and fro over a pair of sockets, between two coroutines.

require __DIR__ . '/../php/support.php';

use function Async\await;
use function Async\spawn;

function round_trips(int $operations): int {
    [$left, $right] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $answering = spawn(function () use ($right, $operations): void {
        for ($i = 0; $i < $operations; ++$i) {
            fwrite($right, fread($right, 16));
        }
    });
    $timed = spawn(function () use ($left, $operations): int {
        $began = hrtime(true);
        for ($i = 0; $i < $operations; ++$i) {
            fwrite($left, 'x');
            fread($left, 16);
        }
        return hrtime(true) - $began;
    });
    $ns = await($timed);
    await($answering);
    return $ns;
}

run_round(['socketpair_php' => round_trips(...)]);
