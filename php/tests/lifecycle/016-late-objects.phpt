--TEST--
Objects that destructors' coroutines make have their own destructors called
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, delay};

class D {
    function __construct(private int $n) {}
    function __destruct() {
        echo "destructor $this->n\n";
        if ($this->n < 3) spawn(function () { delay(1); $GLOBALS['late'][] = new D($this->n + 1); });
    }
}
$d = new D(1);
echo "main ends\n";
?>
--EXPECT--
main ends
destructor 1
destructor 2
destructor 3
