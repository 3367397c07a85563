--TEST--
Cancellations: reflection on what was caught works as on other throwables
--EXTENSIONS--
true_async
--FILE--
<?php
class Mine extends Async\AsyncCancellation {
    public function change(): static {
        $this->message = 'changed';
        return $this;
    }
}
class Again extends Async\AsyncCancellation {
    protected $message = 'declared again';
    protected string $file = 'nowhere';
}
foreach ([new Async\AsyncCancellation('m'), (new Mine('m'))->change(), new Again(), new Cancellation('root')] as $e) {
    echo get_class($e), "\n";
    var_dump((new ReflectionMethod($e, 'getMessage'))->invoke($e));
    var_dump((new ReflectionObject($e))->getMethod('getLine')->invoke($e) === $e->getLine());
    var_dump((new ReflectionProperty($e, 'message'))->getValue($e));
    var_dump((new ReflectionMethod($e, 'getTraceAsString'))->getClosure($e)());
    var_dump(Closure::fromCallable([$e, 'getCode'])());
    foreach ((new ReflectionClass($e))->getMethods() as $method) {
        $method->class === 'Error' && print("Error::{$method->name}\n");
    }
}
echo (new ReflectionMethod('Cancellation', '__construct'))->class, "\n";
echo (new ReflectionProperty('Async\AsyncCancellation', 'line'))->class, "\n";
try {
    new Cancellation([]);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
Async\AsyncCancellation
string(1) "m"
bool(true)
string(1) "m"
string(9) "#0 {main}"
int(0)
Mine
string(7) "changed"
bool(true)
string(7) "changed"
string(9) "#0 {main}"
int(0)
Again
string(14) "declared again"
bool(true)
string(14) "declared again"
string(9) "#0 {main}"
int(0)
Cancellation
string(4) "root"
bool(true)
string(4) "root"
string(9) "#0 {main}"
int(0)
Cancellation
Cancellation
Cancellation::__construct(): Argument #1 ($message) must be of type string, array given
