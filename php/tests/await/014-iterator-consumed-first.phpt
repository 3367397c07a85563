--TEST--
An iterator that never suspends is consumed before what it made runs
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_all};

function generate() {
    foreach ([1, 2, 3] as $i) {
        echo "make $i\n";
        yield spawn(function () use ($i) { echo "run $i\n"; });
    }
}
spawn(function () { echo "queued before\n"; });
await_all(generate());
echo "end\n";
?>
--EXPECT--
queued before
make 1
make 2
make 3
run 1
run 2
run 3
end
