--TEST--
What coroutines share
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};
$global = 'before';
class Counter { public static int $value = 0; }
function statically(?int $set = null): int { static $value = 0; return $value = $set ?? $value; }
/** Changes something in one coroutine and looks at it in another, before and after. */
function shared(string $what, Closure $change, Closure $look): void {
    $before = $look();
    await(spawn(function () use ($change) { $change(); suspend(); }));
    $after = await(spawn($look));
    echo str_pad($what, 28), $before === $after ? 'NOT SHARED' : 'shared', "\n";
}
shared('global variables', function () { $GLOBALS['global'] = 'after'; }, fn() => $GLOBALS['global']);
shared('superglobals', function () { $_GET['x'] = 1; $_SERVER['x'] = 1; }, fn() => [$_GET['x'] ?? 0, $_SERVER['x'] ?? 0]);
shared('static properties', function () { Counter::$value++; }, fn() => Counter::$value);
shared('static variables', fn() => statically(5), fn() => statically());
shared('constants', fn() => define('MADE', 1), fn() => defined('MADE'));
shared('ini_set', fn() => ini_set('precision', '5'), fn() => ini_get('precision'));
shared('locale', fn() => setlocale(LC_CTYPE, 'C'), fn() => setlocale(LC_CTYPE, '0'));
shared('time zone', fn() => date_default_timezone_set('Asia/Tokyo'), fn() => date_default_timezone_get());
shared('working directory', fn() => chdir(getcwd() === '/' ? '/tmp' : '/'), fn() => getcwd());
shared('umask', fn() => umask(umask() ^ 0o10), fn() => umask());
shared('environment', fn() => putenv('TRUE_ASYNC_TEST=1'), fn() => getenv('TRUE_ASYNC_TEST'));
function handler_name(callable|string|null $handler): string { return is_string($handler) ? $handler : get_debug_type($handler); }
function my_handler() { return true; }
shared('set_error_handler', fn() => set_error_handler('my_handler'), function () { $h = set_error_handler(null); restore_error_handler(); return handler_name($h); });
restore_error_handler();
shared('set_exception_handler', fn() => set_exception_handler('my_handler'), function () { $h = set_exception_handler(null); restore_exception_handler(); return handler_name($h); });
restore_exception_handler();
shared('autoloaders', fn() => spl_autoload_register('my_handler'), fn() => count(spl_autoload_functions()));
shared('included files', fn() => include_once __DIR__ . '/included.inc', fn() => count(get_included_files()));
shared('error_get_last', fn() => @trigger_error('mine'), fn() => error_get_last()['message'] ?? 'none');
shared('json_last_error', fn() => json_decode('{'), fn() => json_last_error());
shared('preg_last_error', fn() => @preg_match('/\xff/u', "\xff"), fn() => preg_last_error());
--EXPECT--
global variables            shared
superglobals                shared
static properties           shared
static variables            shared
constants                   shared
ini_set                     shared
locale                      shared
time zone                   shared
working directory           shared
umask                       shared
environment                 shared
set_error_handler           shared
set_exception_handler       shared
autoloaders                 shared
included files              shared
error_get_last              shared
json_last_error             shared
preg_last_error             shared
