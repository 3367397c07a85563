--TEST--
Transparent I/O: a statement that waits has the values that its variables had when it began
--EXTENSIONS--
pdo
pdo_sqlite
true_async
--FILE--
<?php
use function Async\{await, delay, spawn};

$file = __DIR__ . '/047-pdo.db';
@unlink($file);
$locker = new PDO("sqlite:$file");
$locker->exec('create table t(a, b, c)');
$database = new PDO("sqlite:$file");

$first = str_repeat('a', 100);
$insert = $database->prepare('insert into t values (?, ?, ?)');
$insert->bindParam(1, $first);
$insert->bindParam(2, $second);
$insert->bindValue(3, 'value');
$second = 2;
$locker->exec('begin exclusive');
$waiting = spawn(fn() => $insert->execute());
delay(20);
$first = str_repeat('b', 100);
$others = [];
for ($i = 0; $i < 10; ++$i) {
    $others[] = str_repeat('c', 100);
}
$locker->exec('commit');
var_dump(await($waiting), $second, strlen($first), $first[0]);
$row = $locker->query('select * from t')->fetch(PDO::FETCH_NUM);
var_dump($row === [str_repeat('a', 100), '2', 'value']);

// Still the same variables, and what the driver makes of them is seen as ever.
$first = 'again';
var_dump($insert->execute(), $locker->query('select count(*) from t where a = "again"')->fetchColumn());
$named = $database->prepare('select :x');
$named->bindParam('x', $number);
$number = 7;
await(spawn(fn() => $named->execute()));
var_dump($named->fetchColumn(), $number);
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/047-pdo.db');
?>
--EXPECT--
bool(true)
string(1) "2"
int(100)
string(1) "b"
bool(true)
bool(true)
int(1)
string(1) "7"
string(1) "7"
