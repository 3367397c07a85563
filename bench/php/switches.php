<?php
// Switching, spawning, handing values over.

require __DIR__ . '/support.php';

use Async\Channel;
use function Async\await;
use function Async\spawn;
use function Async\suspend;

/** Two coroutines that take turns. */
function suspends(int $operations): int {
    $turns = $operations >> 1;
    $other = spawn(function () use ($turns): void {
        for ($left = $turns + 1; $left > 0; --$left) {
            suspend();
        }
    });
    $timed = spawn(function () use ($turns): int {
        suspend();
        $began = hrtime(true);
        for ($i = 0; $i < $turns; ++$i) {
            suspend();
        }
        return hrtime(true) - $began;
    });
    $ns = await($timed);
    await($other);
    return $ns;
}

/** An empty closure, spawned and awaited. */
function spawns(int $operations): int {
    $nothing = function (): void {};
    $began = hrtime(true);
    for ($i = 0; $i < $operations; ++$i) {
        await(spawn($nothing));
    }
    return hrtime(true) - $began;
}

/** A value there over one unbuffered channel, and one back over another. */
function round_trips(int $operations): int {
    $there = new Channel();
    $back = new Channel();
    $echo = spawn(function () use ($there, $back, $operations): void {
        for ($i = 0; $i < $operations; ++$i) {
            $back->send($there->recv());
        }
    });
    $timed = spawn(function () use ($there, $back, $operations): int {
        $began = hrtime(true);
        for ($i = 0; $i < $operations; ++$i) {
            $there->send($i);
            $back->recv();
        }
        return hrtime(true) - $began;
    });
    $ns = await($timed);
    await($echo);
    return $ns;
}

run_round(['suspend' => suspends(...), 'spawn_await' => spawns(...), 'channel' => round_trips(...)]);
