--TEST--
An output callback may suspend
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

$work = fn($n) => spawn(function () use ($n) {
    ob_start(function ($b) use ($n) { suspend(); return "<$n>$b</$n>\n"; });
    echo "text of $n";
    ob_end_flush();
});
await_all([$work('a'), $work('b')]);
echo "end\n";
?>
--EXPECT--
<a>text of a</a>
<b>text of b</b>
end
