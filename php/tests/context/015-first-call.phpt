--TEST--
Context: current_context() at top level starts the scheduler
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{current_context, root_context, get_coroutines, spawn};
var_dump(count(get_coroutines()));
$c = current_context();
var_dump(count(get_coroutines()));
$c->set('x', 'kept');
spawn(fn() => var_dump(current_context()->get('x'), root_context() === $c));
--EXPECT--
int(0)
int(1)
string(4) "kept"
bool(true)
