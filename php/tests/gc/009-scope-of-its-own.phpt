--TEST--
Cancelling scopes does not affect the collection; its destructors may spawn, await and resurrect
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

class D {
    public $o;
    public function __construct(private string $n) {}
    public function __destruct() {
        echo "$this->n ", await(spawn(fn() => 'awaited')), "\n";
        $GLOBALS['revived'][] = $this;
    }
}
$scope = new Async\Scope();
$scope->spawn(function () {
    $d = new D('d');
    $d->o = $d;
    unset($d);
    gc_collect_cycles();
    suspend();
});
suspend();
$scope->cancel();
for ($i = 0; $i < 5; $i++) suspend();
var_dump(count($revived), $revived[0]->o === $revived[0]);
unset($revived);
gc_collect_cycles();
suspend();
suspend();
echo "no second time\n";
?>
--EXPECT--
d awaited
int(1)
bool(true)
no second time
