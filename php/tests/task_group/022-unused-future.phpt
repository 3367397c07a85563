--TEST--
TaskGroup: futures of all(), race() and any() that nobody uses
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\TaskGroup;
use function Async\suspend;
$g = new TaskGroup();
$g->spawn(fn() => throw new LogicException('E'));
$g->all()->ignore();
$f = $g->all();
for ($i = 0; $i < 3; $i++) { suspend(); }
unset($f);
echo "end\n";
--EXPECTF--

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:7 in %s on line 9

Warning: Unhandled exception in Future: %sE; use catch() or ignore() to handle. Created at %s:7, completed at unknown in %s on line 9
end
