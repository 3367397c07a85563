--TEST--
GC: cycles through a cancelled timeout, an iterator, and the context of a coroutine that PHP code holds
--FILE--
<?php
use Async\{AsyncCancellation, Channel};
use function Async\{await, coroutine_context, current_coroutine, delay, spawn, timeout};

class Holder {
    public $held;
    function __construct(public string $name) {}
    function __destruct() { echo "$this->name is gone\n"; }
}
class Cancelled extends AsyncCancellation {
    public Holder $holder;
}

(function () {
    $timeout = timeout(1000);
    $error = new Cancelled;
    $error->holder = new Holder('timeout');
    $error->holder->held = $timeout;
    $timeout->cancel($error);
})();
(function () {
    $channel = new Channel(1);
    $holder = new Holder('iterator');
    $holder->held = $channel->getIterator();
    $channel->sendAsync($holder);
})();
gc_collect_cycles();
echo "--\n";

$make = function (string $name, bool $also) {
    await(spawn(function () use ($name, $also) {
        $holder = new Holder($name);
        $holder->held = [coroutine_context(), $also ? current_coroutine() : null];
        coroutine_context()->set('holder', $holder);
    }));
};
$make('context', false);
$make('context and coroutine', true);
gc_collect_cycles();
delay(1);
echo "--\n";

// Not as long as somebody has the coroutine, or the context.
$coroutine = spawn(fn() => coroutine_context()->set('holder', new Holder('of a coroutine')));
await($coroutine);
$context = spawn(fn() => coroutine_context()->set('holder', new Holder('of a context'))->set('self', current_coroutine()));
$context = await($context);
gc_collect_cycles();
delay(1);
echo $coroutine->getContext()->get('holder')->name, ', ', $context->get('holder')->name, "\n--\n";
unset($coroutine, $context);
gc_collect_cycles();
delay(1);
?>
--EXPECT--
timeout is gone
iterator is gone
--
context is gone
context and coroutine is gone
--
of a coroutine, of a context
--
of a coroutine is gone
of a context is gone
