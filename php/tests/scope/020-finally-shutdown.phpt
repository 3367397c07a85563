--TEST--
Scope: handlers of a scope that is still in use at the end of the script
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
$s = new Scope();
$s->finally(fn($scope) => print(get_class($scope) . " handler\n"));
register_shutdown_function(fn() => print("shutdown function\n"));
echo "end\n";
--EXPECT--
end
shutdown function
Async\Scope handler
