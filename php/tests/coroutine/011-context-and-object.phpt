--TEST--
getContext() in every state; the object is strict, not made by hand, not cloned, not serialized
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

$c = spawn(fn() => suspend());
$context = $c->getContext();
var_dump($context::class);
$context->set('k', 1);
suspend();
var_dump($c->getContext() === $context, $c->getContext()->get('k'));
await($c);
var_dump($c->getContext() === $context, $c->getContext()->get('k'));
$never = spawn(fn() => 1);
$never->cancel();
suspend();
var_dump($never->getContext()::class);
foreach ([
    fn() => new Async\Coroutine(),
    fn() => clone $c,
    fn() => serialize($c),
    fn() => $c->other = 1,
    fn() => unserialize('O:15:"Async\Coroutine":0:{}'),
] as $wrong) {
    try { $wrong(); echo "never\n"; } catch (Throwable $e) { echo $e::class, "\n"; }
}
var_dump((new ReflectionClass($c))->isFinal(), $c instanceof Async\Completable, $c instanceof Async\Awaitable);
?>
--EXPECT--
string(13) "Async\Context"
bool(true)
int(1)
bool(true)
int(1)
string(13) "Async\Context"
Error
Error
Exception
Error
Exception
bool(true)
bool(true)
bool(true)
