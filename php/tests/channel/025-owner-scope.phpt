--TEST--
Channel: belongs to the scope it was made in
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Channel, Scope, TaskGroup};
use function Async\{spawn, suspend, await, delay};
foreach (['cancel', 'dispose', 'disposeSafely'] as $way) {
    echo "$way\n";
    $scope = new Scope();
    $c = await($scope->spawn(fn() => new Channel()));
    $outside = spawn(function () use ($c) { tell(fn() => $c->recv()); });
    suspend();
    $scope->$way();
    echo $c->isClosed() ? "closed at once\n" : "OPEN\n";
    await($outside);
}
echo "before the coroutines of the scope resume\n";
$scope = new Scope();
$scope->spawn(function () { $c = new Channel(); tell(fn() => $c->recv()); });
suspend();
$scope->cancel();
suspend();
echo "an ancestor\n";
$parent = new Scope();
$child = Scope::inherit($parent);
$c = await($child->spawn(fn() => new Channel()));
$parent->cancel();
tell(fn() => $c->recv());
echo "a task group\n";
$group = new TaskGroup();
$c = null;
$group->spawn(function () use (&$c) { $c = new Channel(); });
await($group->all());
$group->cancel();
tell(fn() => $c->recv());
echo "natural end does not close it\n";
$scope = new Scope();
$c = await($scope->spawn(fn() => new Channel(1)));
turns();
tell(fn() => [$scope->isFinished(), $c->isClosed(), $c->sendAsync(1)]);
echo "neither keeps the other\n";
$weak = WeakReference::create($c);
unset($c);
var_dump($weak->get());
$scope->cancel();
$scope = new Scope();
$weak = WeakReference::create($scope);
$c = await($scope->spawn(fn() => new Channel(1)));
turns();
unset($scope);
turns();
var_dump($weak->get());
tell(fn() => $c->recv());
--EXPECT--
cancel
closed at once
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
dispose
closed at once
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
disposeSafely
closed at once
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
before the coroutines of the scope resume
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
an ancestor
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
a task group
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
natural end does not close it
[true,false,true]
neither keeps the other
NULL
NULL
Async\ChannelException: Channel is closed
  reason SCOPE_DISPOSED
