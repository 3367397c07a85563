<?php
// The floor: one native Fiber resumed and suspended. For a process without the extension.

require __DIR__ . '/support.php';

if (extension_loaded('true_async')) {
    fwrite(STDERR, "the floor wants a process without the extension\n");
    exit(3);
}

function fiber_switches(int $operations): int {
    $fiber = new Fiber(function (): void {
        for (;;) {
            Fiber::suspend();
        }
    });
    $fiber->start();
    $began = hrtime(true);
    for ($i = 0; $i < $operations; ++$i) {
        $fiber->resume();
    }
    return hrtime(true) - $began;
}

run_round(['floor' => fiber_switches(...)]);
