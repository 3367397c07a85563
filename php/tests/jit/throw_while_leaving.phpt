--TEST--
JIT: a destructor that throws while a compiled function is being left, also one whose frame begins a page of the VM stack
--EXTENSIONS--
opcache
--INI--
opcache.enable_cli=1
opcache.file_update_protection=0
opcache.jit_buffer_size=8M
opcache.jit=tracing
opcache.jit_hot_func=2
opcache.jit_hot_loop=2
opcache.jit_hot_return=2
opcache.jit_hot_side_exit=1
--FILE--
<?php
use function Async\{await, spawn};

class Thrower {
    function __construct(public int $bad) {}
    function __destruct() { if ($this->bad) throw new Exception('thrown'); }
}

function extra(int $i): int { mt_rand(1, 2); return $i; }
extra(1, new Thrower(0)); extra(1, new Thrower(0)); extra(1, new Thrower(0)); extra(1, new Thrower(0));
try { extra(1, new Thrower(1)); echo "not reached\n"; } catch (Exception $e) { echo $e->getMessage(), "\n"; }

// At some depth the frame begins a page, whatever the size of a page.
function leave(Thrower $last): int { return mt_rand(1, 2); }
leave(new Thrower(0)); leave(new Thrower(0)); leave(new Thrower(0)); leave(new Thrower(0));
function deep(int $left): int { return $left > 0 ? deep($left - 1) : leave(new Thrower(1)); }
$caught = 0;
for ($depth = 0; $depth < 300; $depth++) {
    await(spawn(function () use ($depth, &$caught) {
        try { deep($depth); } catch (Exception) { $caught++; }
    }));
}
echo $caught, "\n";
?>
--EXPECT--
thrown
300
