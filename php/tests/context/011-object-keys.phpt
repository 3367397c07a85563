--TEST--
Context: object keys compare by identity and are held
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\Context;
class Key { public $context; function __destruct() { echo "key gone\n"; } function __toString() { return 'text'; } }
enum Name { case One; case Two; }
$c = new Context();
$a = new stdClass();
$b = new stdClass();
$c->set($a, 'a');
tell(fn() => [$c->get($a), $c->has($b), $c->find($b)]);
tell(fn() => $c->get($b));
tell(fn() => $c->get(new ArrayObject()));
tell(fn() => $c->set($a, 'again'));
$c->set(Name::One, 1)->set(Name::Two, 2);
tell(fn() => [$c->get(Name::One), $c->get(Name::Two)]);
$key = new Key();
$c->set($key, 'k')->set('text', 't');
tell(fn() => [$c->get($key), $c->get('text')]);
unset($key);
echo "still held\n";
$key = new Key();
$c->set($key, 'second');
$c->unset($key);
echo "let go by the context\n";
unset($key);
unset($c);
echo "a cycle through the key and the value\n";
(function () {
    $key = new Key();
    $key->context = $c = new Context();
    $c->set($key, $c)->set('value', $key);
})();
gc_collect_cycles();
echo "end\n";
--EXPECT--
["a",false,null]
Async\ContextException: Context key of type stdClass not found
Async\ContextException: Context key of type ArrayObject not found
Async\AsyncException: Context key already exists and replace is false
[1,2]
["k","t"]
still held
let go by the context
key gone
key gone
a cycle through the key and the value
key gone
end
