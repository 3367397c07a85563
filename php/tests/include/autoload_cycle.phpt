--TEST--
Autoloading: two coroutines whose classes need each other get the answer that one alone would get
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

spl_autoload_register(function (string $class) {
    suspend();
    [$letter, $number] = [$class[0], (int) $class[1]];
    $next = $letter . ($number + 1) % 3;
    echo "$class asks $next\n";
    $has = class_exists($next);
    echo "$class: ", json_encode($has), "\n";
    eval("class $class {}");
});
echo "alone\n";
var_dump(class_exists('P0'));
echo "together\n";
$all = [];
for ($i = 0; $i < 3; ++$i) $all[] = spawn(fn() => class_exists("Q$i"));
var_dump(array_map('Async\await', $all));
?>
--EXPECT--
alone
P0 asks P1
P1 asks P2
P2 asks P0
P2: false
P1: true
P0: true
bool(true)
together
Q0 asks Q1
Q1 asks Q2
Q2 asks Q0
Q2: false
Q1: true
Q0: true
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
}
