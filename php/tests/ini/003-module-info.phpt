--TEST--
phpinfo() and --ri: versions, settings, state
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\spawn;
function info(): string {
    ob_start();
    (new ReflectionExtension('true_async'))->info();
    $text = ob_get_clean();
    $text = preg_replace('/^(Version|libuv|Built for PHP) => \d+\.\d+\.\d+\S*$/m', '$1 => VERSION', $text);
    return preg_replace('/^(Guard of stacks|Address space of stacks|Stacks kept warm|Stacks in use|Thread-safe build) => \w+$/m', '$1 => SOME', $text);
}
echo info();
spawn(fn() => 1);
spawn(fn() => 2);
echo info();
--EXPECT--

true_async

TrueAsync => Enabled
Version => VERSION
LibUv Reactor => Enabled
Built for PHP => VERSION
libuv => VERSION
Thread-safe build => SOME

State =>  
Scheduler => not started

Directive => Local Value => Master Value
async.debug_deadlock => 1 => 1
async.stack_size => 512K => 512K
async.stack_pool_min => 64 => 64
async.stack_pool_max => 131072 => 131072
async.transparent_io => 1 => 1
async.transparent_io_skip_objects => no value => no value
async.transparent_io_skip_functions => no value => no value
async.test_main_in_coroutine => 0 => 0

true_async

TrueAsync => Enabled
Version => VERSION
LibUv Reactor => Enabled
Built for PHP => VERSION
libuv => VERSION
Thread-safe build => SOME

State =>  
Scheduler => running
Coroutines => 3
Stacks in use => SOME
Stacks kept warm => SOME
Address space of stacks => SOME
Guard of stacks => SOME

Directive => Local Value => Master Value
async.debug_deadlock => 1 => 1
async.stack_size => 512K => 512K
async.stack_pool_min => 64 => 64
async.stack_pool_max => 131072 => 131072
async.transparent_io => 1 => 1
async.transparent_io_skip_objects => no value => no value
async.transparent_io_skip_functions => no value => no value
async.test_main_in_coroutine => 0 => 0
