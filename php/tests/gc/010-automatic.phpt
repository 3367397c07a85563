--TEST--
An automatic collection is deferred as well, and collects all garbage that is there
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, delay};

class D { public $o; static $n = 0; public function __destruct() { self::$n++; if (self::$n % 1000 == 0) suspend(); } }
await(spawn(function () {
    for ($i = 0; $i < 15000; $i++) { $d = new D(); $d->o = $d; unset($d); }
    var_dump(gc_status()['runs'], D::$n);
    for ($i = 0; $i < 40; $i++) suspend();
    var_dump(gc_status()['runs'] > 0, D::$n);
}));
?>
--EXPECT--
int(0)
int(0)
bool(true)
int(15000)
