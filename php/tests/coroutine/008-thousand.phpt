--TEST--
1000 coroutines alive at once
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, delay, await_all};

$all = [];
for ($i = 0; $i < 1000; $i++) {
    $all[] = spawn(function () use ($i) { delay(10); return $i; });
}
[$results, $errors] = await_all($all);
var_dump(count($results), array_sum($results), $errors);
?>
--EXPECT--
int(1000)
int(499500)
array(0) {
}
