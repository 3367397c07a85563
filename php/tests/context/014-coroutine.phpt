--TEST--
Context: coroutine_context() is private to the coroutine and does not see the scope
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use function Async\{spawn, await, suspend, current_context, coroutine_context, root_context, current_coroutine};
tell(fn() => coroutine_context() === coroutine_context());
tell(fn() => coroutine_context() === current_coroutine()->getContext());
coroutine_context()->set('main only', 1);
current_context()->set('scope', 2);
$one = spawn(function () {
    tell(fn() => [coroutine_context()->find('main only'), coroutine_context()->find('scope'), coroutine_context()->has('scope'), current_context()->find('scope')]);
    coroutine_context()->set('mine', 'one');
    suspend();
    tell(fn() => coroutine_context()->get('mine'));
    tell(fn() => coroutine_context()->get('scope'));
});
$two = spawn(function () {
    tell(fn() => coroutine_context()->find('mine'));
    coroutine_context()->set('mine', 'two');
    suspend();
    tell(fn() => coroutine_context()->get('mine'));
});
await($one);
await($two);
echo "after the end\n";
tell(fn() => [$one->getContext()->get('mine'), $two->getContext()->get('mine')]);
tell(fn() => $one->getContext() === $one->getContext());
echo "from outside, before it runs\n";
$c = spawn(fn() => coroutine_context()->get('given'));
$c->getContext()->set('given', 'by main');
tell(fn() => await($c));
--EXPECT--
true
true
[null,null,false,2]
null
"one"
Async\ContextException: Context key "scope" not found
"two"
after the end
["one","two"]
true
from outside, before it runs
"by main"
