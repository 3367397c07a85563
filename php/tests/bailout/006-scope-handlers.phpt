--TEST--
Scope handlers run after the shutdown functions, all in order; one that throws reaches the scope's handler as it is
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, delay};

register_shutdown_function(function () { echo "shutdown\n"; });
$scope = new Async\Scope();
$scope->setExceptionHandler(function ($scope, $coroutine, $error) { echo 'handler: ', $error::class, ' ', $error->getMessage(), "\n"; });
$scope->finally(function () { echo "g1\n"; });
$scope->finally(function () { echo "g2\n"; throw new LogicException('of g2'); });
$scope->finally(function () { echo "g3\n"; });
$c = $scope->spawn(function () { suspend(); eval('class Broken { function __clone(int $x) {} }'); });
$c->finally(function () { echo "never: handler of the coroutine\n"; });
delay(10000);
?>
--EXPECTF--

Fatal error: %s in %s on line %d
shutdown
g1
g2
g3
handler: LogicException of g2
