--TEST--
Context: the search goes up the scopes, skips those without one and ends at a scope without parent
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Scope;
use function Async\{spawn, await, current_context, root_context, coroutine_context, request_context, current_coroutine};
current_context()->set('before', 'the first coroutine');
tell(fn() => [current_context() === current_context(), root_context() === current_context(), root_context() === root_context()]);
$parent = Scope::inherit();
await($parent->spawn(function () {
    tell(fn() => current_context() === root_context());
    tell(fn() => [current_context()->find('before'), current_context()->hasLocal('before'), current_context()->has('before')]);
    current_context()->set('parent', 1);
}));
echo "shared by the coroutines of a scope\n";
await($parent->spawn(fn() => tell(fn() => current_context()->getLocal('parent'))));
echo "a scope without a context between\n";
$middle = Scope::inherit($parent);
$child = Scope::inherit($middle);
await($child->spawn(function () {
    tell(fn() => [current_context()->get('parent'), current_context()->get('before'), current_context()->findLocal('parent')]);
    tell(fn() => current_context()->getLocal('parent'));
    echo "shadowing an ancestor's value is no conflict\n";
    tell(fn() => current_context()->set('parent', 'shadow')->get('parent'));
    tell(fn() => current_context()->set('parent', 'twice'));
    tell(fn() => current_context()->unset('parent')->get('parent'));
    echo "unset is local\n";
    tell(fn() => current_context()->unset('before')->get('before'));
}));
await($parent->spawn(fn() => tell(fn() => current_context()->get('parent'))));
echo "an independent root\n";
$root = new Scope();
await($root->spawn(function () {
    tell(fn() => current_context()->find('before'));
    tell(fn() => current_context()->get('before'));
    tell(fn() => root_context()->get('before'));
    tell(fn() => request_context());
}));
tell(fn() => request_context());
echo "from below the main scope\n";
await(spawn(fn() => tell(fn() => [current_context()->find('before'), current_context() === root_context()])));
--EXPECT--
[true,true,true]
false
["the first coroutine",false,true]
shared by the coroutines of a scope
1
a scope without a context between
[1,"the first coroutine",null]
Async\ContextException: Context key "parent" not found
shadowing an ancestor's value is no conflict
"shadow"
Async\AsyncException: Context key already exists and replace is false
1
unset is local
"the first coroutine"
1
an independent root
null
Async\ContextException: Context key "before" not found
"the first coroutine"
null
null
from below the main scope
["the first coroutine",true]
