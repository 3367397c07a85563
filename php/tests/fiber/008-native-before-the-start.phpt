--TEST--
Without any Async call fibers are PHP's own
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die('skip valgrind loses its way on the stacks of PHP\'s own fibers'); ?>
--FILE--
<?php
function steps(string $n): Fiber {
    return new Fiber(function () use ($n) { foreach ([1, 2, 3] as $i) { echo "$n$i "; Fiber::suspend($i); } return 'end'; });
}
$a = steps('a');
$b = steps('b');
$a->start();
$b->start();
$a->resume();
$b->resume();
$a->resume();
$a->resume();
echo $a->getReturn(), "\n";
var_dump($b->isSuspended());
$old = $b;
require __DIR__ . '/suspend.inc';  // not seen before; from now on fibers are coroutines; those that have begun go on as they were
$old->resume();
$old->resume();
var_dump($old->getReturn());
?>
--EXPECT--
a1 b1 a2 b2 a3 end
bool(true)
b3 string(3) "end"
