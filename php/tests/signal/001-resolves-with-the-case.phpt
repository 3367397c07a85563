--TEST--
signal(): one-shot, resolves with the Signal case; several futures are independent
--EXTENSIONS--
true_async
posix
--FILE--
<?php
use Async\{Future, Signal};
use function Async\{signal, spawn, await, await_all, get_coroutines};

$one = signal(Signal::SIGUSR1);
var_dump($one instanceof Future, $one->isCompleted(), count(get_coroutines()));
$two = signal(Signal::SIGUSR1);
$other = signal(Signal::SIGUSR2)->ignore();
spawn(function () { posix_kill(getmypid(), SIGUSR1); });
var_dump(await($one), await($two), await($one) === Signal::SIGUSR1);
var_dump($other->isCompleted());

// What comes before somebody waits counts too.
$early = signal(Signal::SIGUSR1);
posix_kill(getmypid(), SIGUSR1);
var_dump($early->await());

// A chain.
$mapped = signal(Signal::SIGHUP)->map(fn(Signal $s) => $s->name);
spawn(function () { posix_kill(getmypid(), SIGHUP); });
var_dump(await($mapped));

// Among many.
$both = [signal(Signal::SIGUSR1), signal(Signal::SIGUSR2)];
spawn(function () {
    posix_kill(getmypid(), SIGUSR2);
    posix_kill(getmypid(), SIGUSR1);
});
[$results] = await_all($both);
echo $results[0]->name, ' ', $results[1]->name, "\n";
?>
--EXPECT--
bool(true)
bool(false)
int(1)
enum(Async\Signal::SIGUSR1)
enum(Async\Signal::SIGUSR1)
bool(true)
bool(false)
enum(Async\Signal::SIGUSR1)
string(6) "SIGHUP"
SIGUSR1 SIGUSR2
