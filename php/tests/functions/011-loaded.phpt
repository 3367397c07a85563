--TEST--
What other code asks for: names, and that it is there
--EXTENSIONS--
true_async
--FILE--
<?php
var_dump(extension_loaded('true_async'), function_exists('Async\spawn'), function_exists('Async\spawn_thread'));
try {
    Async\spawn_thread(fn() => 1);
} catch (Async\AsyncException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
spawn_thread() requires a Thread-Safe (ZTS) PHP build
