--TEST--
A second call of a constructor is refused where it would replace what others use
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel, Future, FutureState, ThreadChannel};
use function Async\await;

function twice(object $object, mixed ...$arguments): void
{
    try {
        $object->__construct(...$arguments);
        echo "done\n";
    } catch (Error $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}

$channel = new Channel(1);
twice($channel, 2);
$channel = new ThreadChannel(2);
$channel->send('kept');
twice($channel, 3);
var_dump($channel->capacity(), $channel->recv());
$state = new FutureState();
$future = new Future($state);
twice($state);
$other = new FutureState();
$other->ignore();
twice($future, $other);
$mapped = $future->map(fn($x) => $x + 1);
twice($mapped, $other);
$state->complete(1);
var_dump(await($future), await($mapped));
?>
--EXPECT--
Error: The channel is constructed already
Error: The channel is constructed already
int(2)
string(4) "kept"
Error: The future state is constructed already
Error: The future is constructed already
Error: The future is constructed already
int(1)
int(2)
