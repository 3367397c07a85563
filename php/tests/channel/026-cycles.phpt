--TEST--
Channel: cycles through it are collected, with its values, waiters and futures
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Channel;
use function Async\{spawn, suspend, await};
class Probe { public $held; function __construct(public string $name) {} function __destruct() { echo "$this->name gone\n"; } }
(function () {
    $p = new Probe('in the buffer');
    $p->held = $c = new Channel(2);
    $c->sendAsync($p);
})();
gc_collect_cycles();
turn();
(function () {
    $c = new Channel(1);
    $c->sendAsync($c);
    $p = new Probe('own value');
    $c2 = new Channel(2);
    $p->held = [$c, $c2];
    $c2->sendAsync(fn() => $p);
})();
gc_collect_cycles();
turn();
(function () {
    $c = new Channel(0);
    $p = new Probe('in the slot');
    $p->held = $c;
    $c->sendAsync($p);
})();
gc_collect_cycles();
turn();
(function () {
    $c = new Channel(1);
    $p = new Probe('waiter of a future');
    $p->held = [$c, $c->recvAsync()->ignore()];
    $p->held[] = $p;
})();
gc_collect_cycles();
turn();
echo "end\n";
function turn() { for ($i = 0; $i < 3; $i++) { suspend(); } }
--EXPECT--
in the buffer gone
own value gone
in the slot gone
waiter of a future gone
end
