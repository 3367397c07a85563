--TEST--
ReflectionFiber of a fiber that is a coroutine: not begun, in Fiber::suspend(), in another fiber, in a wait, itself
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn, suspend};

function functions(Fiber $fiber): string
{
    return implode(' < ', array_map(fn (array $frame) => $frame['function'], (new ReflectionFiber($fiber))->getTrace()));
}
function stop(): void { Fiber::suspend(); }
function pause(): void { suspend(); }

suspend();
$fiber = new Fiber(fn () => stop());
spawn(function () use (&$fiber) { echo 'not begun: ', functions($fiber), "\n"; });
$fiber->start();
echo 'suspended: ', functions($fiber), "\n";
var_dump((new ReflectionFiber($fiber))->getExecutingLine(), basename((new ReflectionFiber($fiber))->getExecutingFile(), '.php'));
$fiber->resume();

$outer = new Fiber(function () use (&$outer) {
    $inner = new Fiber(function () use (&$outer) { echo 'in another: ', functions($outer), "\n"; });
    $inner->start();
    echo 'itself: ', functions($outer), "\n";
});
$outer->start();

$waiting = new Fiber(fn () => pause());
$looks = spawn(function () use (&$waiting) { suspend(); echo 'in a wait: ', functions($waiting), "\n"; });
$waiting->start();
await($looks);
?>
--EXPECTF--
not begun: 
suspended: suspend < stop < {closure%S}
int(8)
string(14) "013-reflection"
in another: start < {closure%S}
itself: getTrace < functions < {closure%S}
in a wait: 
