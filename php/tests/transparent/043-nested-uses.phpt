--TEST--
Transparent I/O: what a call works on is in use while code of PHP waits inside it, and when it is no call at all
--EXTENSIONS--
pdo
pdo_sqlite
sqlite3
true_async
--FILE--
<?php
use function Async\{spawn, await, suspend, delay};

/** Tells what came of it, and who is named. */
function tell(string $what, callable $use): void {
    try {
        $text = json_encode($use());
    } catch (Async\AsyncException $e) {
        preg_match('/^(\S+?):? this (\S+) is in use\. Coroutine \d+ .*has not come back/', $e->getMessage(), $found);
        $text = isset($found[2]) ? "refused, $found[1] of $found[2]" : $e->getMessage();
    }
    echo "$what: $text\n";
}
/** A function for SQL, which says that it is there and waits. */
$gate = function (int $value) use (&$inside, &$open) {
    $inside = true;
    while (!$open) {
        suspend();
    }
    return $value * 2;
};
$until_inside = function () use (&$inside, &$open) {
    while (!$inside) {
        suspend();
    }
    $inside = false;
};

echo "SQLite3\n";
$db = new SQLite3(':memory:');
$db->enableExceptions(true);
$db->exec('drop table if exists t; create table t (a); insert into t values (1), (2), (3)');
$db->createFunction('gate', $gate);
$statement = $db->prepare('select gate(a) from t');
$first = spawn(function () use ($statement) {
    $result = $statement->execute();
    while ($row = $result->fetchArray(SQLITE3_NUM)) {
        $rows[] = $row[0];
    }
    return $rows;
});
$until_inside();
tell('close of the statement', fn() => $statement->close());
tell('query', fn() => $db->querySingle('select 1'));
$open = true;
echo json_encode(await($first)), "\n";
tell('handed over', fn() => $statement->close());
$open = $inside = false;

echo "PDO, persistent\n";
$connect = fn() => new PDO('sqlite::memory:', options: [PDO::ATTR_PERSISTENT => 'one']);
[$one, $same] = [$connect(), $connect()];
$one->exec('drop table if exists t; create table t (a); insert into t values (1), (2), (3)');
$one->sqliteCreateFunction('gate', $gate);
$first = spawn(fn() => $one->query('select gate(a) from t')->fetchAll(PDO::FETCH_COLUMN));
$until_inside();
tell('the same object', fn() => $one->exec('drop table t'));
tell('another object', fn() => $same->query('select 1')->fetchColumn());
tell('a method of the driver', fn() => $same->sqliteCreateFunction('other', strlen(...)));
tell('one more object', fn() => $connect()->query('select 1')->fetchColumn());
tell('another connection', fn() => (new PDO('sqlite::memory:', options: [PDO::ATTR_PERSISTENT => 'two']))->query('select 1')->fetchColumn());
$open = true;
echo json_encode(await($first)), "\n";
tell('handed over', fn() => $connect()->query('select count(*) from t')->fetchColumn());
$open = $inside = false;

echo "foreach\n";
$one->sqliteCreateFunction('gate', $gate);  // the object that is gone has taken its functions with it
$statement = $one->prepare('select gate(a) from t where a > 1');
$other = $one->query('select a from t');
$unused = $one->prepare('select a from t');
$first = spawn(function () use ($statement, &$rows, &$open) {
    $open = true;
    $statement->execute();
    foreach ($statement as $row) {
        $rows[] = $row[0];
        $open = false;
    }
});
$until_inside();
while ($open) {
    suspend();
}
tell('query', fn() => $same->query('select 1')->fetchColumn());
tell('foreach', function () use ($other) { foreach ($other as $row) return $row[0]; });
$dropping = spawn(function () use (&$unused) {
    $unused = null;
    echo "the statement is freed\n";
});
for ($i = 0; $i < 5; $i++) {
    suspend();
}
echo "go on\n";
$open = true;
await($first);
await($dropping);
echo json_encode($rows), "\n";
tell('foreach', function () use ($other) { foreach ($other as $row) return $row[0]; });

echo "an error handler\n";
$open = $inside = false;
set_error_handler(fn() => $gate(0) === 0);
$name = tempnam(sys_get_temp_dir(), 'nested');
$file = fopen($name, 'w');
$first = spawn(function () use ($file) {
    $got = fread($file, 10);
    echo "the reader has left\n";
    return $got;
});
$until_inside();
$closing = spawn(function () use ($file) {
    fclose($file);
    echo "closed\n";
});
suspend();
$open = true;
await($closing);
var_dump(await($first));
restore_error_handler();
unlink($name);

echo "a notification\n";
$server = stream_socket_server('tcp://127.0.0.1:0');
spawn(function () use ($server) {
    $client = stream_socket_accept($server, 5);
    while (trim(fgets($client)) !== '');
    fwrite($client, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\n0000\n");
    foreach ([1, 2, 3] as $line) {
        delay(5);
        fwrite($client, "000$line\n");
    }
    fclose($client);
});
$context = stream_context_create([], ['notification' => fn(int $code) => $code === STREAM_NOTIFY_PROGRESS && delay(8)]);
$stream = fopen('http://' . stream_socket_get_name($server, false) . '/', 'r', false, $context);
$lines = [];
$read = function () use ($stream, &$lines) {
    while (($line = fgets($stream)) !== false) {
        $lines[] = trim($line);
    }
};
$all = [spawn($read), spawn($read)];
array_map(await(...), $all);
sort($lines);
echo implode(' ', $lines), "\n";
?>
--EXPECT--
SQLite3
close of the statement: refused, SQLite3Stmt::close() of SQLite3Stmt
query: refused, SQLite3::querySingle() of SQLite3
[2,4,6]
handed over: true
PDO, persistent
the same object: refused, PDO::exec() of PDO
another object: refused, PDO::query() of PDO
a method of the driver: refused, PDO::sqliteCreateFunction() of PDO
one more object: refused, PDO::__construct() of PDO
another connection: 1
[2,4,6]
handed over: 3
foreach
query: refused, PDO::query() of PDO
foreach: refused, foreach of PDOStatement
go on
the statement is freed
[4,6]
foreach: 1
an error handler
the reader has left
closed
bool(false)
a notification
0000 0001 0002 0003
