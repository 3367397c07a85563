--TEST--
Transparent I/O: the cancellation of a call of PDO has its error as the previous one
--EXTENSIONS--
pdo
pdo_sqlite
true_async
--FILE--
<?php
use function Async\{await, delay, spawn};

$file = __DIR__ . '/046-pdo.db';
@unlink($file);
$locker = new PDO("sqlite:$file");
$locker->exec('create table t(a)');
$locker->exec('begin exclusive');

function attempt(string $what, callable $call) {
    $waiting = spawn($call);
    delay(20);
    $waiting->cancel();
    try {
        await($waiting);
    } catch (Cancellation $e) {
        $previous = $e->getPrevious();
        echo "$what: ", get_class($e), ', ', $previous !== null ? $previous->getMessage() : 'nothing', "\n";
    }
}

$database = new PDO("sqlite:$file");
attempt('exec', fn() => $database->exec('insert into t values (1)'));
attempt('query', fn() => (new PDO("sqlite:$file"))->query('select * from t'));
attempt('execute', function () use ($file) {
    $database = new PDO("sqlite:$file");
    $locked = $database->prepare('insert into t values (1)');
    $locked->execute();
});
$database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_WARNING);
attempt('with warnings', fn() => $database->exec('insert into t values (1)'));
$database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
attempt('silent', fn() => $database->exec('insert into t values (1)'));
$locker->exec('commit');
echo $database->exec('insert into t values (1)'), "\n";
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/046-pdo.db');
?>
--EXPECT--
exec: Async\AsyncCancellation, SQLSTATE[HY000]: General error: 5 database is locked
query: Async\AsyncCancellation, SQLSTATE[HY000]: General error: 5 database is locked
execute: Async\AsyncCancellation, SQLSTATE[HY000]: General error: 5 database is locked
with warnings: Async\AsyncCancellation, nothing
silent: Async\AsyncCancellation, nothing
1
