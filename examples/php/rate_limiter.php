<?php
// At most three requests in any 50 ms, however many want to go at once.
// Run it: ./dev php examples/php/rate_limiter.php

use Async\Channel;
use function Async\{await_all_or_fail, delay, spawn};

/** Lets `$count` through in any `$ms` milliseconds; the others wait in order of arrival. */
final class RateLimiter {
    private Channel $tickets;

    public function __construct(int $count, private int $ms) {
        $this->tickets = new Channel($count);
        for ($i = 0; $i < $count; $i++) {
            $this->tickets->send(true);
        }
    }

    public function pass(): void {
        $this->tickets->recv();
        spawn(function () {  // a ticket that was used is valid again after that time
            delay($this->ms);
            $this->tickets->send(true);
        });
    }
}

$limiter = new RateLimiter(3, 50);
$start = hrtime(true);
$times = [];
$requests = [];
for ($i = 0; $i < 8; $i++) {
    $requests[] = spawn(function () use ($limiter, $start, $i, &$times) {
        $limiter->pass();
        $times[$i] = (hrtime(true) - $start) / 1e6;
        echo "request $i\n";
    });
}
await_all_or_fail($requests);

for ($i = 3; $i < 8; $i++) {
    if ($times[$i] - $times[$i - 3] < 50) {
        echo "too fast: request $i\n";
    }
}
echo "never more than three in 50 ms\n";
