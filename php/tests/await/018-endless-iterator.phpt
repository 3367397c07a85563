--TEST--
The condition is met while the iterator goes on: the caller continues, the walk ends
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_any_or_fail, await_any_of, get_coroutines};

function endless(int &$made) {
    try {
        while (true) {
            $n = ++$made;
            yield spawn(function () use ($n) { suspend(); return $n; });
            suspend();
        }
    } finally {
        echo "generator closed\n";
    }
}
$made = 0;
var_dump(await_any_or_fail(endless($made)));
for ($i = 0; $i < 6; $i++) suspend();
$then = $made;
for ($i = 0; $i < 6; $i++) suspend();
var_dump($made === $then, count(get_coroutines()));
?>
--EXPECT--
int(1)
generator closed
bool(true)
int(1)
