--TEST--
A future that was awaited, given as token or as trigger is not reported as unused
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, await_all, await_all_or_fail, await_any_or_fail, spawn, suspend};
use Async\{Future, FutureState};

function failed(string $text): Future { return Future::failed(new LogicException($text)); }
try { await(failed('awaited')); } catch (LogicException $e) { echo $e->getMessage(), "\n"; }
try { await(spawn(fn() => suspend()), failed('token')); } catch (Cancellation $e) { echo $e->getPrevious()->getMessage(), "\n"; }
try { await(Future::completed(1), failed('of what is complete')); } catch (Cancellation $e) { echo $e->getPrevious()->getMessage(), "\n"; }
echo json_encode(await_all([Future::completed(1), failed('trigger')])[0]), "\n";
echo json_encode(await_any_or_fail([Future::completed(1), failed('loser')])), "\n";
echo json_encode(await_all_or_fail([Future::completed(1)], new Future(new FutureState()))), "\n";
?>
--EXPECT--
awaited
token
of what is complete
[1]
1
[1]
