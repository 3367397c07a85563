--TEST--
Future: a callback starts the scheduler when it is due, not before
--FILE--
<?php
use Async\{Channel, Future, FutureState};
use function Async\get_coroutines;

function say(string $what) { echo $what, ': ', get_coroutines() === [] ? 'not started' : 'started', "\n"; }

$future = new Future($state = new FutureState);
$channel = new Channel(1);
$mapped = $future->map(fn($x) => print("mapped $x\n"))->ignore();
$received = $channel->recvAsync()->map(fn($x) => print("received $x\n"))->ignore();
$closed = new Channel(1);
$refused = $closed->recvAsync()->catch(fn() => print("refused\n"))->ignore();
say('chained');
$channel->sendAsync(2);
say('sent');
$closed->close();
$state->complete(1);
echo "end\n";
?>
--EXPECT--
chained: not started
sent: started
end
received 2
refused
mapped 1
