--TEST--
Channel without a buffer: one slot for a rendezvous
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Channel;
use function Async\{spawn, suspend, delay};
function state(Channel $c): void { echo 'count ', count($c), $c->isFull() ? ' full' : '', $c->isEmpty() ? ' empty' : '', "\n"; }
$c = new Channel();
state($c);
echo "a receiver waits: send returns at once\n";
spawn(function () use ($c) { echo 'got ' . $c->recv() . "\n"; });
suspend();
$c->send(1);
echo "delivered\n";
state($c);
suspend();
state($c);
echo "nobody waits: the sender parks until somebody takes it\n";
spawn(function () use ($c) { $c->send(2); echo "sent 2\n"; });
suspend();
state($c);
suspend();
echo 'main got ', $c->recv(), "\n";
suspend();
echo "the slot is occupied: the second sender parks for the slot\n";
foreach ([3, 4] as $v) { spawn(function () use ($c, $v) { $c->send($v); echo "sent $v\n"; }); }
suspend();
state($c);
echo 'main got ', $c->recv(), "\n";
suspend();
state($c);
echo 'main got ', $c->recv(), "\n";
suspend();
echo "sendAsync needs no receiver\n";
var_dump($c->sendAsync(5));
state($c);
var_dump($c->sendAsync(6));
echo 'main got ', $c->recv(), "\n";
state($c);
--EXPECT--
count 0 empty
a receiver waits: send returns at once
delivered
count 1 full
got 1
count 0 empty
nobody waits: the sender parks until somebody takes it
count 1 full
main got 2
sent 2
the slot is occupied: the second sender parks for the slot
count 1 full
main got 3
sent 3
count 1 full
main got 4
sent 4
sendAsync needs no receiver
bool(true)
count 1 full
bool(false)
main got 5
count 0 empty
