--TEST--
With the scheduler off everything is PHP's own
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('SKIP_REPEAT')) die("skip the first request has changed the engine's threshold"); ?>
--FILE--
<?php
function garbage(int $count): void { for ($i = 0; $i < $count; $i++) { $a = new stdClass(); $a->self = $a; } }
garbage(12000);
var_dump(gc_status()['runs'] > 0, gc_status()['threshold']);
garbage(5);
var_dump(gc_collect_cycles() > 0);
$all = [];
for ($i = 0; $i < 12000; $i++) { $all[] = new stdClass(); }
foreach ($all as $o) { $copy = $o; $copy = null; }
var_dump(gc_status()['threshold']);
var_dump(gc_enabled());
gc_disable();
var_dump(gc_enabled(), ini_get('zend.enable_gc'));
gc_enable();
var_dump(gc_enabled());
?>
--EXPECT--
bool(true)
int(10001)
bool(true)
int(20001)
bool(true)
bool(false)
string(1) "0"
bool(true)
