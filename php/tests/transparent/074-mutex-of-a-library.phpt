--TEST--
Transparent I/O: a library that holds a mutex while it waits holds up only those who want it
--EXTENSIONS--
pdo
pdo_sqlite
true_async
--FILE--
<?php
use function Async\{spawn, await, await_all, delay, suspend};

$file = __DIR__ . '/070-mutex-of-a-library.db';
@unlink($file);
$locker = new PDO("sqlite:$file");
$locker->exec('create table t(a); insert into t values (1)');
// Both share one cache, which has a mutex.
$open = fn() => new PDO("sqlite:file:$file?cache=shared", null, null, [PDO::ATTR_TIMEOUT => 8]);
[$a, $b, $c] = [$open(), $open(), $open()];

/** While $a waits for the file, and holds the mutex. */
$meanwhile = function (callable $other) use ($locker, $a) {
    $locker->exec('begin exclusive');
    $writer = spawn(fn() => $a->exec('insert into t values (2)'));
    suspend();
    $other = $other();
    delay(5);
    echo "others run\n";
    $locker->exec('commit');
    return [await($writer), $other];
};
$count = fn($database) => fn() => (int)$database->query('select count(*) from t')->fetchColumn();

[, [$first, $second]] = $meanwhile(fn() => [spawn($count($b)), spawn($count($c))]);
echo json_encode([await($first), await($second)]), "\n";

[, $reader] = $meanwhile(function () use ($b, $count) {
    $reader = spawn(function () use ($b, $count) {
        try {
            $got = $count($b)();
            echo "the lock is there: $got\n";
            suspend();
        } finally {
            echo "and then\n";
        }
    });
    suspend();
    $reader->cancel();
    return $reader;
});
try {
    await($reader);
} catch (Async\AsyncCancellation $e) {
    echo get_class($e), "\n";
}

[, $reader] = $meanwhile(function () use ($b, $count) {
    $reader = spawn($count($b));
    suspend();
    try {
        $b->query('select 1');
    } catch (Async\AsyncException $e) {
        echo preg_replace('/ is in use.*/s', ' is in use', $e->getMessage()), "\n";
    }
    return $reader;
});
echo await($reader), "\n";

$locker->exec('begin exclusive');
spawn(fn() => $a->exec('insert into t values (2)'));
spawn($count($b));
delay(5);
echo "end\n";
exit;
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/070-mutex-of-a-library.db');
?>
--EXPECT--
others run
[2,2]
others run
the lock is there: 3
and then
Async\AsyncCancellation
PDO::query(): this PDO is in use
others run
4
end
