--TEST--
Exceptions in flight belong to the coroutine: finally blocks and destructors that suspend
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, await_all};

class D { function __destruct() { suspend(); try { throw new Exception('inner'); } catch (Exception) {} suspend(); } }
function failing(string $n) {
    $d = new D();
    try {
        throw new LogicException($n);
    } finally {
        suspend();
        await(spawn(fn() => 1));
    }
}
foreach (await_all([spawn('failing', 'a'), spawn('failing', 'b'), spawn('failing', 'c')])[1] as $e) {
    echo $e->getMessage(), ' ', var_export($e->getPrevious(), true), "\n";
}
try {
    try {
        failing('main');
    } finally {
        suspend();
    }
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
a NULL
b NULL
c NULL
main
