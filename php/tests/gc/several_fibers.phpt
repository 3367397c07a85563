--TEST--
GC: one collection closes all suspended fibers in cycles, in its own order, and waits for none of them
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{delay, suspend};

final class Loud
{
    public ?Fiber $fiber = null;

    public function __construct(public int $number) {}
    public function __destruct() { echo "destroyed {$this->number}\n"; }
}

suspend();
for ($i = 0; $i < 4; ++$i) {
    $fiber = new Fiber(function () use ($i) {
        $loud = new Loud($i);
        $loud->fiber = Fiber::suspend();
        try {
            Fiber::suspend();
        } finally {
            echo "finally {$loud->number}\n";
            delay(1000 * $i);
        }
    });
    $fiber->start();
    $fiber->resume($fiber);
}
unset($fiber);
$begun = hrtime(true);
gc_collect_cycles();
suspend();
suspend();
echo hrtime(true) - $begun < 500_000_000 ? "at once\n" : "late\n";
exit;
?>
--EXPECT--
finally 0
destroyed 0
finally 1
destroyed 1
finally 2
destroyed 2
finally 3
destroyed 3
at once
