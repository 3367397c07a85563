--TEST--
Scope: without a scheduler finally handlers start one; their errors go to the scope's handler and up
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Scope;
use function Async\{get_coroutines, suspend};
function handled(string $who): Closure {
    return fn($s, $c, $e) => print("$who: " . $e->getMessage() . "\n");
}
$how = [
    'dispose' => fn($s) => $s->dispose(),
    'cancel' => fn($s) => $s->cancel(),
    'disposeSafely' => fn($s) => $s->disposeSafely(),
];
foreach ($how as $name => $end) {
    $end(new Scope());
}
echo count(get_coroutines()), " coroutines\n";
foreach ($how as $name => $end) {
    $s = new Scope();
    $s->setExceptionHandler(handled("handler of $name"));
    $s->finally(function () use ($name) { echo "in $name\n"; suspend(); throw new Exception('one'); });
    $end($s);
    echo "after $name\n";
}
$s = null;
suspend();
echo "main goes on\n";
suspend();

$parent = new Scope();
$parent->setExceptionHandler(handled('parent'));
$child = Scope::inherit($parent);
$child->finally(fn() => throw new Exception('of the child'));
register_shutdown_function(function () use ($child) {
    $child->dispose();
    echo "disposed in a shutdown function\n";
});
$last = new Scope();
$last->setExceptionHandler(handled('last'));
$last->finally(fn() => throw new Exception('f1'));
$last->finally(fn() => throw new Exception('f2'));
unset($child);
echo "end\n";
--EXPECT--
0 coroutines
after dispose
after cancel
after disposeSafely
in disposeSafely
in cancel
in dispose
main goes on
handler of disposeSafely: one
handler of cancel: one
handler of dispose: one
end
disposed in a shutdown function
parent: of the child
last: 2 errors: f1; f2
