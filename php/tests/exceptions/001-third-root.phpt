--TEST--
\Cancellation is a throwable root of its own
--EXTENSIONS--
true_async
--FILE--
<?php
var_dump(is_subclass_of('Cancellation', 'Throwable'), get_parent_class('Cancellation'));
var_dump(is_a('Cancellation', 'Exception', true), is_a('Cancellation', 'Error', true));
$interfaces = array_values(class_implements('Cancellation'));
sort($interfaces);
var_dump($interfaces);
echo implode(' <- ', [...array_values(array_reverse(class_parents('Async\OperationCanceledException'))), 'Async\OperationCanceledException']), "\n";
foreach (['Cancellation', 'Async\AsyncCancellation', 'Async\OperationCanceledException'] as $class) {
    try {
        throw new $class('message', 7, new LogicException('previous'));
    } catch (Exception $e) {
        echo "an Exception\n";
    } catch (Error $e) {
        echo "an Error\n";
    } catch (Cancellation $e) {
        echo $e::class, ' ', $e->getMessage(), ' ', $e->getCode(), ' ', $e->getPrevious()->getMessage(), ' ', basename($e->getFile()), ':', $e->getLine(), ' ', $e->getTraceAsString(), ' ', count($e->getTrace()), "\n";
    }
}
try {
    throw new Async\AsyncCancellation('t');
} catch (Throwable $e) {
    echo "a Throwable\n";
}
echo explode("\n", (string) $e)[0] === 'Async\AsyncCancellation: t in ' . __FILE__ . ':20' ? "printable\n" : (string) $e;
?>
--EXPECT--
bool(true)
bool(false)
bool(false)
bool(false)
array(2) {
  [0]=>
  string(10) "Stringable"
  [1]=>
  string(9) "Throwable"
}
Cancellation <- Async\AsyncCancellation <- Async\OperationCanceledException
Cancellation message 7 previous 001-third-root.php:10 #0 {main} 0
Async\AsyncCancellation message 7 previous 001-third-root.php:10 #0 {main} 0
Async\OperationCanceledException message 7 previous 001-third-root.php:10 #0 {main} 0
a Throwable
printable
