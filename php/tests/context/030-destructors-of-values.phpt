--TEST--
What only the context of a finished coroutine holds goes where destructors may suspend
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, current_coroutine, coroutine_context};

class D { function __destruct() { echo "begins\n"; suspend(); echo current_coroutine()::class, "\n"; } }
spawn(function () { coroutine_context()->set('d', new D()); echo "body ends\n"; });
suspend();
suspend();
suspend();
echo "main ends\n";
?>
--EXPECT--
body ends
begins
Async\Coroutine
main ends
