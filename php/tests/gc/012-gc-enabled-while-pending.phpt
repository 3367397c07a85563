--TEST--
gc_enable(), gc_disable() and gc_enabled() say what the script has said, also while a collection is due
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (getenv('SKIP_REPEAT')) die("skip the first request has changed the engine's threshold"); ?>
--FILE--
<?php
use function Async\suspend;

suspend();
for ($i = 0; $i < 12000; $i++) { $a = new stdClass(); $a->self = $a; }
unset($a);
var_dump(gc_enabled(), gc_status()['runs']);
gc_disable();
var_dump(gc_enabled());
suspend();
var_dump(gc_enabled(), gc_status()['runs']);
for ($i = 0; $i < 12000; $i++) { $a = new stdClass(); $a->self = $a; }
suspend();
var_dump(gc_status()['runs']);
gc_enable();
for ($i = 0; $i < 12000; $i++) { $a = new stdClass(); $a->self = $a; }
suspend();
var_dump(gc_enabled(), gc_status()['runs']);
?>
--EXPECT--
bool(true)
int(0)
bool(false)
bool(false)
int(1)
int(1)
bool(true)
int(2)
