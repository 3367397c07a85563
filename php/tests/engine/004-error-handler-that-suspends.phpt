--TEST--
An error handler may suspend; meanwhile the others still have one
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all, await};

set_error_handler(function ($level, $message) {
    echo "begin $message\n";
    suspend();
    if ($message == 'outer') echo $undefined_in_the_handler;  // PHP's own report: the handler is not called for itself
    echo "end $message\n";
    return true;
});
ini_set('html_errors', 0);
foreach (['a', 'b', 'c'] as $n) {
    $tasks[] = spawn(function () use ($n) { trigger_error($n); trigger_error("$n again"); });
}
await_all($tasks);
$old = set_error_handler(fn($l, $m) => print("second: $m\n"));
trigger_error('x');
restore_error_handler();
// Replaced while it runs elsewhere.
$c = spawn(function () { trigger_error('in the first'); trigger_error('after it'); });
suspend();
set_error_handler(fn($l, $m) => print("third: $m\n"));
await($c);
trigger_error('main');
restore_error_handler();
trigger_error('main again');
?>
--EXPECT--
begin a
begin b
begin c
end a
begin a again
end b
begin b again
end c
begin c again
end a again
end b again
end c again
second: x
begin in the first
end in the first
third: after it
third: main
begin main again
end main again
