--TEST--
Fatal errors: a destructor that hits the memory limit behind the script does not keep handlers of scopes from being called
--EXTENSIONS--
true_async
--INI--
memory_limit=16M
--FILE--
<?php
class Greedy {
    function __destruct() {
        str_repeat('x', 100 << 20);
    }
}
$greedy = new Greedy();
$scope = new Async\Scope();
$scope->finally(fn() => str_repeat('x', 100 << 20));
$scope->finally(fn() => print("called\n"));
?>
--EXPECTF--
Fatal error: Allowed memory size of 16777216 bytes exhausted%s(tried to allocate %d bytes) in %s on line %d

Fatal error: Allowed memory size of 16777216 bytes exhausted%s(tried to allocate %d bytes) in %s on line %d
called
