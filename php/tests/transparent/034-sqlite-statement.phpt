--TEST--
Transparent I/O: statements and results of SQLite3 count as their connection
--EXTENSIONS--
sqlite3
true_async
--FILE--
<?php
use function Async\{spawn, await, delay};

$file = __DIR__ . '/034-sqlite-statement.db';
@unlink($file);
$locker = new SQLite3($file);
$locker->exec('create table t(a); insert into t values (1)');
$database = new SQLite3($file);
$database->busyTimeout(5000);
$insert = $database->prepare('insert into t values (2)');
$result = $database->query('select a from t');
$select = $database->prepare('select a from t');
$second = $select->execute();
$other = new SQLite3($file);

function attempt(string $name, callable $call) {
    try {
        $answer = json_encode(await(spawn($call)));
    } catch (Async\AsyncException $e) {
        $answer = preg_replace('/ is in use.*/s', ' is in use', $e->getMessage());
    }
    echo "$name: $answer\n";
}

$locker->exec('begin exclusive');
$writer = spawn(fn() => $database->exec('insert into t values (3)'));
delay(20);
attempt('statement', fn() => $insert->execute());
attempt('result', fn() => $result->fetchArray());
attempt('result of a statement', fn() => $second->fetchArray());
attempt('connection', fn() => $database->querySingle('select 1'));
attempt('another connection', fn() => $other->querySingle('select 1'));
$locker->exec('commit');
echo json_encode(await($writer)), "\n";

$locker->exec('begin exclusive');
$writer = spawn(fn() => $insert->execute() !== false);
delay(20);
attempt('connection', fn() => $database->querySingle('select 1'));
attempt('another statement', fn() => $select->execute());
$locker->exec('commit');
echo json_encode(await($writer)), "\n";
attempt('after that', fn() => $result->fetchArray(SQLITE3_NUM));
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/034-sqlite-statement.db');
?>
--EXPECT--
statement: SQLite3Stmt::execute(): this SQLite3Stmt is in use
result: SQLite3Result::fetchArray(): this SQLite3Result is in use
result of a statement: SQLite3Result::fetchArray(): this SQLite3Result is in use
connection: SQLite3::querySingle(): this SQLite3 is in use
another connection: 1
true
connection: SQLite3::querySingle(): this SQLite3 is in use
another statement: SQLite3Stmt::execute(): this SQLite3Stmt is in use
true
after that: [1]
