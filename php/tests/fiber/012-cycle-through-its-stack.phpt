--TEST--
GC: a suspended fiber that only its own stack knows is closed and collected
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\suspend;

final class Loud
{
    public ?Fiber $fiber = null;

    public function __destruct()
    {
        echo "destroyed\n";
    }
}

function make(): WeakReference
{
    $fiber = new Fiber(function (): void {
        $loud = new Loud();
        $loud->fiber = Fiber::suspend($loud);
        try {
            Fiber::suspend();
        } finally {
            echo "finally\n";
        }
    });
    $fiber->start();
    $fiber->resume($fiber);
    return WeakReference::create($fiber);
}

suspend();
$reference = make();
var_dump($reference->get() !== null);
gc_collect_cycles();
for ($turn = 0; $turn < 10; ++$turn) {
    suspend();
}
var_dump($reference->get());
echo "end\n";
?>
--EXPECT--
bool(true)
finally
destroyed
NULL
end
