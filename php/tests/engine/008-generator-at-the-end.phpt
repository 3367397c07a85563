--TEST--
A generator that stands still in a coroutine when the engine destroys all objects
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

class D {
    function __destruct() {
        spawn(function () {
            $g = (function () { try { delay(2); yield 1; suspend(); yield 2; } finally { echo "finally\n"; } })();
            foreach ($g as $x) echo "$x\n";
        });
        suspend();
        echo "destructor ends\n";
    }
}
$d = new D();
$second = new D();
echo "main ends\n";
?>
--EXPECTREGEX--
main ends
destructor ends
destructor ends
1
(?:1
2
finally
2
finally|2
1
(?:2
finally
finally|finally
2
finally)|2
finally
1
2
finally)
