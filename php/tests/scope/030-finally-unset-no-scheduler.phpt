--TEST--
Scope: handlers of a scope that is dropped before a scheduler runs come after the dropping code
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\suspend;
$s = new Scope();
$s->setExceptionHandler(fn($s, $c, $e) => print($e->getMessage() . "\n"));
$s->finally(fn($x) => throw new Exception('from ' . $x::class));
unset($s);
echo "unset\n";
suspend();
echo "end\n";
--EXPECT--
unset
from Async\Scope
end
