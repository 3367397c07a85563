--TEST--
Context: search, local forms, keys, errors
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn,await,suspend,current_context,coroutine_context,root_context,request_context,current_coroutine};
current_context()->set('a', 1); var_dump(root_context() === current_context(), root_context()->get('a'));
$s = Async\Scope::inherit();
var_dump(await($s->spawn(function() { current_context()->set('b', 2); return [current_context()->find('a'), current_context()->findLocal('a'), coroutine_context()->find('a'), coroutine_context() === current_coroutine()->getContext()]; })));
try { root_context()->get('zz'); } catch (Async\ContextException $e) { echo $e->getMessage(), "\n"; }
try { root_context()->get(new stdClass); } catch (Async\ContextException $e) { echo $e->getMessage(), "\n"; }
try { root_context()->set('a', 3); } catch (Async\AsyncException $e) { echo $e->getMessage(), "\n"; }
try { root_context()->set(5, 3); } catch (TypeError $e) { echo $e->getMessage(), "\n"; }
$k = new stdClass; root_context()->set($k, 'obj')->unset('a'); var_dump(root_context()->find($k), root_context()->has('a'), request_context());
await((new Async\Scope)->spawn(fn() => var_dump(current_context()->find($k))));
--EXPECT--
bool(true)
int(1)
array(4) {
  [0]=>
  int(1)
  [1]=>
  NULL
  [2]=>
  NULL
  [3]=>
  bool(true)
}
Context key "zz" not found
Context key of type stdClass not found
Context key already exists and replace is false
Async\Context::set(): Argument #1 ($key) must be of type string|object, int given
string(3) "obj"
bool(false)
NULL
