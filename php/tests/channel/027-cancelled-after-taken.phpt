--TEST--
Channel: an unbuffered sender that is cancelled after its value was taken throws, and the value stays with who has it
--EXTENSIONS--
true_async
--FILE--
<?php
// A coroutine that is ready resumes with the cancellation instead of what it waited for; a delivery is never undone.
use Async\Channel;
use function Async\{await_all, spawn, suspend};
$c = new Channel();
$first = spawn(function () use ($c) {
    try { $c->send('first'); echo "first returned\n"; } catch (Cancellation $e) { echo 'first: ', $e->getMessage(), "\n"; }
});
$second = spawn(function () use ($c) { $c->send('second'); echo "second returned\n"; });
suspend();
echo 'got ', $c->recv(), "\n";
$first->cancel();
var_dump($c->sendAsync('x'), count($c));  // the place is the second sender's
suspend();
echo 'got ', $c->recv(), "\n";
await_all([$first, $second]);
var_dump(count($c), $c->isClosed());
?>
--EXPECT--
got first
bool(false)
int(0)
first: Coroutine cancelled
got second
second returned
int(0)
bool(false)
