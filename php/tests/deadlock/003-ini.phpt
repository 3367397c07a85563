--TEST--
async.debug_deadlock can be changed everywhere
--EXTENSIONS--
true_async
--FILE--
<?php
var_dump(ini_get('async.debug_deadlock'), ini_set('async.debug_deadlock', '0'), ini_get('async.debug_deadlock'));
ob_start();
phpinfo(INFO_MODULES);
$text = ob_get_clean();
var_dump(str_contains($text, 'LibUv Reactor => Enabled'), str_contains($text, 'true_async'));
?>
--EXPECT--
string(1) "1"
string(1) "1"
string(1) "0"
bool(true)
bool(true)
