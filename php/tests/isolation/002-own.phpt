--TEST--
What each coroutine has for itself
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, coroutine_context};
/** Changes something in one coroutine, which is suspended then, and looks at it in another. */
function own(string $what, Closure $change, Closure $look, ?Closure $back = null): void {
    $before = $look();
    $changed = null;
    $c = spawn(function () use ($change, $look, $back, &$changed) { $change(); $changed = $look(); suspend(); suspend(); $still = $look() === $changed; $back && $back(); return $still; });
    $other = await(spawn($look));
    echo str_pad($what, 28), $changed === $before ? 'NOT CHANGED ' : '', $before === $other ? 'own' : 'SHARED', await($c) ? '' : ' AND LOST', "\n";
}
own('output buffers', fn() => ob_start(), fn() => ob_get_level(), fn() => ob_end_clean());
own('error_reporting()', fn() => error_reporting(E_ERROR), fn() => error_reporting());
own('coroutine_context()', fn() => coroutine_context()->set('x', 1), fn() => coroutine_context()->find('x'));
echo "the silence operator: ";
$all = error_reporting();
$c = spawn(fn() => @(function () { suspend(); return error_reporting(); })());
$other = await(spawn(fn() => error_reporting()));
echo json_encode([$other === $all, await($c) !== $all]), "\n";
echo "an exception in flight: ";
$c = spawn(function () { try { try { throw new Exception('A'); } finally { suspend(); } } catch (Exception $e) { return $e->getMessage(); } });
$d = spawn(function () { try { try { throw new Exception('B'); } finally { suspend(); } } catch (Exception $e) { return $e->getMessage() . json_encode($e->getPrevious()); } });
echo await($c), ' ', await($d), "\n";
--EXPECT--
output buffers              own
error_reporting()           own
coroutine_context()         own
the silence operator: [true,true]
an exception in flight: A Bnull
