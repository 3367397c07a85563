--TEST--
After a fatal error in a coroutine nothing of main or of others runs, not even catch and finally
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
class D { function __destruct() { echo "never: destructor\n"; } }
$global = new D();
$other = spawn(function () {
    $local = new D();
    try {
        delay(10000);
        echo "never\n";
    } catch (Throwable) {
        echo "never: other catches\n";
    } finally {
        echo "never: other's finally\n";
    }
});
$other->finally(function () { echo "never: handler\n"; });
$unstarted = null;
spawn(function () use (&$unstarted) {
    suspend();
    $unstarted = spawn(function () { echo "never: unstarted\n"; });
    eval('class Unfinished implements Nowhere, Iterator, Countable { function __clone(int $x) {} }');
});
try {
    delay(10000);
    echo "never\n";
} catch (Throwable $e) {
    echo "never: main catches\n";
} finally {
    echo "never: main's finally\n";
}
echo "never\n";
?>
--EXPECTF--

Fatal error: %s in %s on line %d
shutdown
