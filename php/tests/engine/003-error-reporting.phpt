--TEST--
@ and error_reporting() belong to the coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

error_reporting(E_ALL);
function noisy(string $who) { suspend(); trigger_error("of $who"); return error_reporting(); }
set_error_handler(function ($level, $message) { echo "handler: $message ", error_reporting() & $level ? 'wanted' : 'silenced', "\n"; return true; });
$tasks = [
    'silent' => spawn(fn() => @noisy('silent')),
    'loud' => spawn(fn() => noisy('loud')),
    'lower' => spawn(function () { error_reporting(E_ALL & ~E_USER_NOTICE); return noisy('lower'); }),
    'after' => spawn(function () { suspend(); @suspend(); return noisy('after'); }),
];
foreach (await_all($tasks)[0] as $name => $level) {
    echo "$name ", $level === E_ALL ? 'all' : 'less', "\n";
}
var_dump(error_reporting() === E_ALL);
?>
--EXPECT--
handler: of silent silenced
handler: of loud wanted
handler: of lower silenced
handler: of after wanted
silent less
loud all
lower less
after all
bool(true)
