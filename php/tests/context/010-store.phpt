--TEST--
Context: a free-standing store; find, get, has and their local forms
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Context;
$c = new Context();
tell(fn() => [$c->find('a'), $c->has('a'), $c->findLocal('a'), $c->hasLocal('a')]);
tell(fn() => $c->get('a'));
tell(fn() => $c->getLocal('a'));
tell(fn() => $c->set('a', 1) === $c);
tell(fn() => [$c->find('a'), $c->get('a'), $c->has('a'), $c->findLocal('a'), $c->getLocal('a'), $c->hasLocal('a')]);
echo "null is a value\n";
$c->set('null', null);
tell(fn() => [$c->has('null'), $c->hasLocal('null'), $c->get('null'), $c->getLocal('null')]);
echo "set again\n";
tell(fn() => $c->set('a', 2));
tell(fn() => $c->get('a'));
tell(fn() => $c->set('a', 2, false));
tell(fn() => $c->set('a', 2, true)->get('a'));
tell(fn() => $c->set(key: 'a', value: 3, replace: true)->get('a'));
echo "unset\n";
tell(fn() => $c->unset('a') === $c);
tell(fn() => $c->unset('never there') === $c);
tell(fn() => $c->has('a'));
tell(fn() => $c->set('a', 4)->get('a'));
echo "strings are not numbers\n";
$c->set('1', 'one')->set('', 'empty')->set("a\0b", 'binary');
tell(fn() => [$c->get('1'), $c->has('01'), $c->get(''), $c->get("a\0b"), $c->has('a' . "\0")]);
--EXPECT--
[null,false,null,false]
Async\ContextException: Context key "a" not found
Async\ContextException: Context key "a" not found
true
[1,1,true,1,1,true]
null is a value
[true,true,null,null]
set again
Async\AsyncException: Context key already exists and replace is false
1
Async\AsyncException: Context key already exists and replace is false
2
3
unset
true
true
false
4
strings are not numbers
["one",false,"empty","binary",false]
