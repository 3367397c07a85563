<?php
// SIGTERM ends the program the polite way: no new jobs, running ones are finished or cancelled, and everybody cleans up.
// Run it: ./dev php examples/php/graceful_shutdown.php        (it sends the signal to itself)

use Async\{AsyncCancellation, Scope, Signal};
use function Async\{await, delay, graceful_shutdown, protect, signal, spawn};

$jobs = new Scope();

foreach (['reports', 'mails'] as $name) {
    $jobs->spawn(function () use ($name) {
        try {
            for ($i = 1; ; $i++) {
                // What is inside protect() is finished even when the program is told to end.
                protect(function () use ($name, $i) {
                    delay(2);
                    if ($i === 1) {
                        echo "$name: first job done\n";
                    }
                });
                delay(1000);
            }
        } catch (AsyncCancellation $e) {
            echo "$name: stops ({$e->getMessage()})\n";
            throw $e;
        } finally {
            echo "$name: cleaned up\n";
        }
    });
}

spawn(function () use ($jobs) {
    await(signal(Signal::SIGTERM));
    echo "SIGTERM: shutting down\n";
    $jobs->cancel(new AsyncCancellation('the program ends'));
    $jobs->awaitAfterCancellation();
    echo "all jobs have stopped\n";
    graceful_shutdown();  // whatever else there is
});

// In the place of an administrator.
spawn(function () {
    delay(20);
    exec('kill -TERM ' . getmypid());
});

register_shutdown_function(fn() => print("shutdown functions run last\n"));
