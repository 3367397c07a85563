--TEST--
On a build without threads: spawn_thread() refuses, the classes are there
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (PHP_ZTS) die("skip for builds without threads"); ?>
--FILE--
<?php
require __DIR__ . '/../tell.inc';
var_dump((bool) PHP_ZTS, function_exists('Async\spawn_thread'));
tell(fn() => Async\spawn_thread(fn() => 1));
tell(fn() => Async\spawn_thread(task: fn() => 1, inherit: false, bootloader: fn() => 1));
tell(fn() => Async\spawn_thread('strlen'));
tell(fn() => Async\spawn_thread());
tell(fn() => new Async\Thread());
tell(fn() => new Async\ThreadPool());
tell(fn() => array_map('class_exists', ['Async\Thread', 'Async\ThreadChannel', 'Async\ThreadPool', 'Async\RemoteException', 'Async\ThreadTransferException', 'Async\ThreadChannelException', 'Async\ThreadPoolException']));
--EXPECT--
bool(false)
bool(true)
Async\AsyncException: spawn_thread() requires a Thread-Safe (ZTS) PHP build
Async\AsyncException: spawn_thread() requires a Thread-Safe (ZTS) PHP build
TypeError: Async\spawn_thread(): Argument #1 ($task) must be of type Closure, string given
ArgumentCountError: Async\spawn_thread() expects at least 1 argument, 0 given
Error: Call to private Async\Thread::__construct() from global scope
Async\AsyncException: ThreadPool requires a Thread-Safe (ZTS) PHP build
[true,true,true,true,true,true,true]
