--TEST--
Channel: wrong arguments, strictness, refusals
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Channel;
use function Async\spawn;

foreach ([[-1], [PHP_INT_MAX], [0, -1], [0, 0, -1], ['x'], [[]], [1, 0, 0, false, 5]] as $arguments) {
    tell(fn() => new Channel(...$arguments));
}
$channel = new Channel(capacity: 3, noProducerTimeout: 1, noConsumerTimeout: 2, hardTimeouts: true);
tell(fn() => [$channel->capacity(), count($channel), $channel->isEmpty(), $channel->isFull(), $channel->isClosed()]);
$default = new Channel();
tell(fn() => [$default->capacity(), count($default), $default->isEmpty(), $default->isFull(), $default->isClosed()]);
tell(fn() => $channel->send());
tell(fn() => $channel->send(1, 2));
tell(fn() => $channel->send(1, new Channel));
tell(fn() => $channel->recv(1));
tell(fn() => $channel->sendAsync());
tell(fn() => $channel->recvAsync(1));
tell(fn() => $channel->close(1));
tell(fn() => $channel->other = 1);
tell(fn() => serialize($channel));
tell(fn() => unserialize('O:13:"Async\Channel":0:{}'));
tell(fn() => clone $channel);
tell(fn() => $channel->__construct(1));
tell(fn() => (new ReflectionClass(Channel::class))->newInstanceWithoutConstructor());
$class = new ReflectionClass(Channel::class);
tell(fn() => [$class->isFinal(), $class->getInterfaceNames()]);
tell(fn() => array_map(fn($case) => [$case->name, $case->value], Async\ChannelCloseReason::cases()));
tell(fn() => (string) (new ReflectionProperty(Async\ChannelException::class, 'reason'))->getType());
--EXPECT--
ValueError: Async\Channel::__construct(): Argument #1 ($capacity) must be between 0 and 2147483647
ValueError: Async\Channel::__construct(): Argument #1 ($capacity) must be between 0 and 2147483647
ValueError: Async\Channel::__construct(): Argument #2 ($noProducerTimeout) must be between 0 and 2147483647
ValueError: Async\Channel::__construct(): Argument #3 ($noConsumerTimeout) must be between 0 and 2147483647
TypeError: Async\Channel::__construct(): Argument #1 ($capacity) must be of type int, string given
TypeError: Async\Channel::__construct(): Argument #1 ($capacity) must be of type int, array given
ArgumentCountError: Async\Channel::__construct() expects at most 4 arguments, 5 given
[3,0,true,false,false]
[0,0,true,false,false]
ArgumentCountError: Async\Channel::send() expects at least 1 argument, 0 given
TypeError: Async\Channel::send(): Argument #2 ($cancellationToken) must be of type ?Async\Completable, int given
TypeError: Async\Channel::send(): Argument #2 ($cancellationToken) must be of type ?Async\Completable, Async\Channel given
TypeError: Async\Channel::recv(): Argument #1 ($cancellationToken) must be of type ?Async\Completable, int given
ArgumentCountError: Async\Channel::sendAsync() expects exactly 1 argument, 0 given
ArgumentCountError: Async\Channel::recvAsync() expects exactly 0 arguments, 1 given
ArgumentCountError: Async\Channel::close() expects exactly 0 arguments, 1 given
Error: Cannot create dynamic property Async\Channel::$other
Exception: Serialization of 'Async\Channel' is not allowed
Exception: Unserialization of 'Async\Channel' is not allowed
Error: Trying to clone an uncloneable object of class Async\Channel
Error: The channel is constructed already
ReflectionException: Class Async\Channel is an internal class marked as final that cannot be instantiated without invoking its constructor
[true,["Async\\Awaitable","IteratorAggregate","Traversable","Countable"]]
[["EXPLICIT","explicit"],["DISPOSED","disposed"],["NO_PRODUCERS","no producers timeout"],["NO_CONSUMERS","no consumers timeout"],["DEADLOCK","deadlock"],["SCOPE_DISPOSED","scope disposed"]]
"Async\\ChannelCloseReason"
