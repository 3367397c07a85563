--TEST--
A closure alone is called as any other callable is
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\await;
use function Async\spawn;
use function Async\suspend;

class Magic {
    public $name = 'magic';
    public function bound() { return function () { suspend(); return $this->name; }; }
    public function unbound() { return static function () { suspend(); return isset($this) ? 'this' : static::class; }; }
    public function closed() { return $this->hidden(...); }
    private function hidden() { suspend(); return 'hidden of ' . $this->name; }
    public function __call($name, $arguments) { suspend(); return "$name(" . count($arguments) . ')'; }
    public static function __callStatic($name, $arguments) { return "static $name"; }
    public function __invoke() { return 'invoked'; }
}
function named() { suspend(); return __FUNCTION__; }

$magic = new Magic();
$count = 0;
$tasks = [
    'plain' => function () { suspend(); return 1; },
    'nothing' => function () { suspend(); },
    'arrow' => fn () => $count + 2,
    'by reference' => function &() use (&$count) { suspend(); ++$count; return $count; },
    'default' => function ($a = 5, ...$more) { suspend(); return [$a, count($more), func_num_args()]; },
    'bound' => $magic->bound(),
    'static' => $magic->unbound(),
    'private' => $magic->closed(),
    'first class' => named(...),
    'internal' => gc_enabled(...),
    'trampoline' => $magic->missing(...),
    'static trampoline' => Magic::missing(...),
    'from callable' => Closure::fromCallable($magic),
    'generator' => function () { suspend(); yield 1; yield 2; },
    'too few' => function ($a) { return $a; },
    'throws' => function () { suspend(); throw new Exception('thrown'); },
    'finally' => function () { try { suspend(); return 'try'; } finally { suspend(); } },
];
$show = function ($value) {
    return $value instanceof Generator ? 'generator of ' . implode(',', iterator_to_array($value)) : json_encode($value);
};
foreach ($tasks as $kind => $task) {
    try {
        $outcome = $show(await(spawn($task)));
    } catch (Throwable $thrown) {
        $outcome = get_class($thrown) . ': ' . $thrown->getMessage();
    }
    echo "$kind: ", $outcome, "\n";
}
var_dump($count);
?>
--EXPECTF--
plain: 1
nothing: null
arrow: 2
by reference: 1
default: [5,0,0]
bound: "magic"
static: "Magic"
private: "hidden of magic"
first class: "named"
internal: true
trampoline: "missing(0)"
static trampoline: "static missing"
from callable: "invoked"
generator: generator of 1,2
too few: ArgumentCountError: Too few arguments to function {closure%S}(), 0 passed and exactly 1 expected
throws: Exception: thrown
finally: "try"
int(1)
