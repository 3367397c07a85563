--TEST--
getResult() and getException()
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$good = spawn(fn() => 'value');
var_dump($good->getResult(), $good->getException());
suspend();
var_dump($good->getResult(), $good->getException());

$bad = spawn(function () { throw new LogicException('bad'); });
suspend();
var_dump($bad->getResult(), $bad->getException()->getMessage());
try {
    await($bad);
} catch (LogicException $e) {
    var_dump($e === $bad->getException());
}
try {
    await($bad);
} catch (LogicException $again) {
    var_dump($e === $again);
}

$cancelled = spawn(fn() => suspend());
suspend();
$cancelled->cancel($given = new Async\AsyncCancellation('given'));
suspend();
var_dump($cancelled->getResult(), $cancelled->getException() === $given);
?>
--EXPECT--
NULL
NULL
string(5) "value"
NULL
NULL
string(3) "bad"
bool(true)
bool(true)
NULL
bool(true)
