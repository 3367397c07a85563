--TEST--
Transparent I/O: the session is one for all: its functions take turns, and who is cancelled before it has the lock has no session
--EXTENSIONS--
true_async
session
--INI--
session.use_cookies=0
session.use_only_cookies=0
session.cache_limiter=
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

$said = '';  // later: there are no sessions once something was printed
function say(string $text): void { $GLOBALS['said'] .= $text; }

$path = sys_get_temp_dir() . '/true_async_sessions_' . getmypid();
mkdir($path);
session_save_path($path);
$file = "$path/sess_abc";
file_put_contents($file, 'n|i:1;');
$lock = fopen($file, 'r+');
flock($lock, LOCK_EX);

session_id('abc');
$starting = spawn(fn() => session_start());
for ($i = 0; $i < 3; $i++) suspend();
$starting->cancel();
try {
    await($starting);
} catch (Async\AsyncCancellation) {
    say('cancelled: ' . (session_status() === PHP_SESSION_NONE ? 'no session' : 'a session') . "\n");
}
file_put_contents($file, 'n|i:2;');

$starting = spawn(fn() => session_start());
for ($i = 0; $i < 3; $i++) suspend();
$closing = spawn(fn() => session_write_close());  // it waits: there is nothing to close yet
for ($i = 0; $i < 3; $i++) suspend();
flock($lock, LOCK_UN);
say(json_encode([await($starting), await($closing)]) . ' ' . $_SESSION['n'] . "\n");
session_start();
$_SESSION['m'] = 1;
session_write_close();
say(file_get_contents($file) . "\n");

class Slow implements SessionHandlerInterface {
    private function wait(string $what): bool { say("$what "); usleep(100); return true; }
    function open($path, $name): bool { return $this->wait('open'); }
    function close(): bool { return $this->wait('close'); }
    function read($id): string|false { $this->wait('read'); say(session_id() . ' '); return 'k|s:3:"abc";'; }
    function write($id, $data): bool { return $this->wait('write'); }
    function destroy($id): bool { return $this->wait('destroy'); }
    function gc($lifetime): int|false { return 0; }
}
session_set_save_handler(new Slow, false);
session_start();
say("\n");
[$results] = await_all([spawn(fn() => session_regenerate_id()), spawn(fn() => session_destroy())]);
say(json_encode($results) . "\n");

unlink($file);
rmdir($path);
echo $said;
?>
--EXPECTF--
cancelled: no session
[true,true] 2
n|i:2;m|i:1;
open read abc 
write close open read %s destroy close [true,true]
