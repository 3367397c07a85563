--TEST--
The exception tree
--EXTENSIONS--
true_async
--FILE--
<?php
foreach (['AsyncException', 'InputOutputException', 'DnsException', 'TimeoutException', 'PollException', 'DeadlockError', 'ServiceUnavailableException', 'CompositeException', 'ContextException'] as $name) {
    $class = new ReflectionClass("Async\\$name");
    echo "$name < ", $class->getParentClass()->getName(), $class->isFinal() ? ' final' : '', "\n";
}
$composite = new Async\CompositeException('msg');
var_dump($composite->getMessage(), $composite->getExceptions());
$composite->addException($a = new LogicException('a'));
$composite->addException($b = new Async\AsyncCancellation('b'));
var_dump($composite->getExceptions() === [$a, $b]);
try {
    $composite->addException('x');
} catch (TypeError $e) {
    echo "TypeError\n";
}
try {
    $composite->other = 1;
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
var_dump((new ReflectionProperty($composite, 'exceptions'))->isPrivate());
?>
--EXPECT--
AsyncException < Exception
InputOutputException < Exception
DnsException < Exception
TimeoutException < Exception
PollException < Exception
DeadlockError < Error
ServiceUnavailableException < Async\AsyncException
CompositeException < Exception final
ContextException < Async\AsyncException
string(3) "msg"
array(0) {
}
bool(true)
TypeError
Cannot create dynamic property Async\CompositeException::$other
bool(true)
