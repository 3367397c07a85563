--TEST--
Exceptions: a cancellation in a chain can be cast to a string and printed any number of times
--FILE--
<?php
use Async\AsyncCancellation;

$cancellation = new AsyncCancellation('inner');
$outer = new Exception('outer', 0, $cancellation);
$outermost = new AsyncCancellation('outermost', 0, $outer);
foreach ([$cancellation, $outer, $outermost, new ErrorException('error', previous: $outermost)] as $exception) {
    $first = (string) $exception;
    echo substr_count($first, 'Stack trace'), ' ', json_encode($first === (string) $exception), "\n";
}
ob_start();
print_r($outermost);
var_dump($cancellation);
echo strpos(ob_get_clean(), 'RECURSION') === false ? 'whole' : 'cut off', "\n";
throw $outer;
?>
--EXPECTF--
1 true
2 true
3 true
4 true
whole

Fatal error: Uncaught Async\AsyncCancellation: inner in %s:%d
Stack trace:
#0 {main}

Next Exception: outer in %s:%d
Stack trace:
#0 {main}
  thrown in %s on line %d
