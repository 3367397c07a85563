--TEST--
A send that waits twice, for the slot and until its value is taken, comes back to its own coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Channel;
use function Async\{await_all, current_coroutine, delay, spawn, suspend};

function depth(int $levels): int
{
    return $levels === 0 ? 0 : 1 + depth($levels - 1);
}

/// `$between`: what the receiver does before it takes the second value. Others are ready meanwhile, or nobody is.
function run(Closure $between, bool $isBusy): void
{
    $channel = new Channel();
    await_all([
        spawn(fn () => $channel->send('first')),
        spawn(function () use ($channel) {
            $self = current_coroutine();
            $channel->send('second');
            var_dump(current_coroutine() === $self, depth(5000));  // deep enough to need more of the coroutine's VM stack
        }),
        spawn(function () use ($channel, $between, &$isBusy) {
            delay(5);
            var_dump($channel->recv());
            $between();
            var_dump($channel->recv());
            $isBusy = false;
        }),
        spawn(function () use (&$isBusy) {
            while ($isBusy) {
                suspend();
            }
        }),
    ]);
}
run(fn () => delay(5), false);
run(fn () => suspend(), false);
run(fn () => delay(5), true);
?>
--EXPECT--
string(5) "first"
string(6) "second"
bool(true)
int(5000)
string(5) "first"
string(6) "second"
bool(true)
int(5000)
string(5) "first"
string(6) "second"
bool(true)
int(5000)
