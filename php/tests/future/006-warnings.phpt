--TEST--
Warnings: never used, unhandled exception
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\{await, timeout, spawn, await_all};

$f = Future::completed(1);
unset($f);
echo "a\n";
$f = new Future(new FutureState());
unset($f);
echo "b\n";
$f = Future::failed(new Exception('no one'));
$g = $f->finally(function () {});
try { await($g); } catch (Exception) {}
unset($f, $g);
echo "c\n";
$f = Future::failed(new Exception('neither used nor handled'));
unset($f);
echo "d\n";
Future::completed(1)->ignore();
Future::failed(new Exception('x'))->ignore();
try { Future::failed(new Exception('x'))->await(); } catch (Exception) {}
$f = Future::failed(new Exception('x'));
await($f->catch(fn() => 1));
unset($f);
$token = new Future(new FutureState());
await(spawn(fn() => 1), $token);
unset($token);
await_all([$a = Future::failed(new Exception('x')), $b = Future::completed(1)]);
unset($a, $b);
(new FutureState())->ignore();
echo "end\n";
?>
--EXPECTF--

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s006-warnings.php:5 in %s006-warnings.php on line 6
a

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s006-warnings.php:8 in %s006-warnings.php on line 9
b

Warning: Unhandled exception in Future: no one; use catch() or ignore() to handle. Created at %s006-warnings.php:11, completed at %s006-warnings.php:11 in %s006-warnings.php on line 14
c

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s006-warnings.php:16 in %s006-warnings.php on line 17

Warning: Unhandled exception in Future: neither used nor handled; use catch() or ignore() to handle. Created at %s006-warnings.php:16, completed at %s006-warnings.php:16 in %s006-warnings.php on line 17
d
end
