--TEST--
Scope: disposeAfterTimeout() without a scheduler starts it where there is a child to dispose
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\{delay, get_coroutines};
$parent = new Scope();
$child = Scope::inherit($parent);
$parent->disposeAfterTimeout(1);
echo count(get_coroutines()), "\n";
delay(10);
var_dump($child->isCancelled());
--EXPECT--
1
bool(true)
