--TEST--
include and require in coroutines: the file may suspend, shares the variables of the caller, gives a value
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

$file = __DIR__ . '/001-suspends-at-top-level.inc.php';
file_put_contents($file, '<?php
echo "$name begins\n";
for ($i = 0; $i < 2; $i++) {
    Async\suspend();
    $seen[] = "$name$i";
}
echo "$name ends\n";
return strtoupper($name);
');
$tasks = [];
foreach (['a', 'b'] as $name) {
    $tasks[] = spawn(function () use ($name, $file) {
        $seen = [];
        $value = $name == 'a' ? include $file : require $file;
        return "$value " . implode(',', $seen);
    });
}
print_r(await_all($tasks)[0]);
$name = 'main';
spawn(function () { echo "meanwhile\n"; });
var_dump(include $file);
echo json_encode($seen), "\n";
?>
--CLEAN--
<?php @unlink(__DIR__ . '/001-suspends-at-top-level.inc.php'); ?>
--EXPECT--
a begins
b begins
a ends
b ends
Array
(
    [0] => A a0,a1
    [1] => B b0,b1
)
main begins
meanwhile
main ends
string(4) "MAIN"
["main0","main1"]
