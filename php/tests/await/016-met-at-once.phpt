--TEST--
A condition that is met already does not suspend
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all, await_any_or_fail, await_first_success, await_any_of, await_any_of_or_fail, await_all_or_fail};
use Async\Future;

suspend();
$done = spawn(fn() => 'done');
$bad = spawn(function () { throw new LogicException('bad'); });
suspend();
spawn(function () { echo "nobody has waited\n"; });
echo json_encode(await_any_or_fail([$done, $bad])), "\n";
echo json_encode(await_first_success([$bad, $done])[0]), "\n";
echo json_encode(await_all([$done, $done])), "\n";
echo json_encode(await_all_or_fail(['k' => $done, 'f' => Future::completed(5)])), "\n";
echo json_encode(await_any_of(1, [$done])), "\n";
echo json_encode(await_any_of_or_fail(1, [$done])), "\n";
echo json_encode(await_any_of_or_fail(0, [$done])), "\n";
try { await_all_or_fail([$bad]); } catch (LogicException $e) { echo $e->getMessage(), "\n"; }
echo "end\n";
?>
--EXPECT--
"done"
"done"
[["done","done"],[]]
{"k":"done","f":5}
[["done"],[]]
["done"]
[]
bad
end
nobody has waited
