--TEST--
1000 levels of recursion, suspending every 20
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

function deep(int $level): int {
    if ($level % 20 === 0) {
        suspend();
    }
    return $level === 0 ? 0 : 1 + deep($level - 1);
}
$both = [spawn('deep', 1000), spawn('deep', 1000)];
var_dump(await($both[0]), await($both[1]), deep(1000));
?>
--EXPECT--
int(1000)
int(1000)
int(1000)
