--TEST--
Transparent I/O: what a driver says about its cancelled call does not get into an exception that belongs to others
--EXTENSIONS--
sqlite3
true_async
--FILE--
<?php
use function Async\{await, delay, spawn};

$file = __DIR__ . '/045-shared.db';
@unlink($file);
$locker = new SQLite3($file);
$locker->exec('create table t(a)');
$locker->exec('begin exclusive');
$wait = function () use ($file) {
    $database = new SQLite3($file);
    $database->enableExceptions(true);
    $database->busyTimeout(5000);
    $database->exec('insert into t values (1)');
};

$cause = new RuntimeException('the cause');
$waiting = spawn($wait);
delay(20);
$waiting->cancel(new Async\AsyncCancellation('enough', 0, $cause));
try {
    await($waiting);
} catch (Cancellation $e) {
    echo $e->getMessage(), ': ', $e->getPrevious()->getMessage(), ', ', json_encode($cause->getPrevious()), "\n";
}

spawn($wait);
delay(20);
throw new RuntimeException('thrown');
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/045-shared.db');
?>
--EXPECTF--
enough: the cause, null

Fatal error: Uncaught RuntimeException: thrown in %s045-shared-cancellation.php:%d
Stack trace:
#0 {main}
  thrown in %s on line %d
