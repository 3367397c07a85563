--TEST--
Future: a warning comes late when a pending callback still holds the source
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\{spawn, await};
$state = new FutureState();
$f = new Future($state);
$g = $f->finally(function () { echo "finally\n"; });
$g->ignore();
$state->error(new Exception('late'));
unset($f, $g, $state);
echo "main ends\n";
--EXPECTF--
main ends
finally

Warning: Unhandled exception in Future: late; use catch() or ignore() to handle. Created at %s:4, completed at %s:8 in Unknown on line 0
