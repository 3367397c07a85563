<?php
// Rows of the matrix: one connection, two coroutines. The second is refused, the first and the connection do not notice.
use function Async\{spawn, await, delay};

/**
 * @param callable $slow    asks the connection something that takes a while
 * @param callable[] $uses  what the second coroutine tries meanwhile
 */
function refused(callable $slow, mixed $expected, array $uses): void {
    $first = spawn($slow);
    delay(50);
    foreach ($uses as $name => $use) {
        $second = spawn($use);
        try {
            $got = await($second);
            fail("$name was let in and got " . json_encode($got));
        } catch (Async\AsyncException $e) {
            foreach ([$first, $second] as $one) {
                str_contains($e->getMessage(), "Coroutine {$one->getId()} ") || fail("$name: not named in {$e->getMessage()}");
            }
        }
    }
    $first->isCompleted() && fail('the first was too fast');
    ($got = await($first)) === $expected || fail('the first got ' . json_encode($got));
    foreach ([1, 2] as $turn) {  // handed over
        ($got = await(spawn($slow))) === $expected || fail("turn $turn got " . json_encode($got));
    }
}

return [
    'in use: pdo_pgsql' => function () {
        need('pdo_pgsql');
        $db = new PDO('pgsql:' . str_replace(' ', ';', server('POSTGRES')));
        $other = $db->prepare('select 7');
        refused(fn() => $db->query("select 5 from pg_sleep(0.3)")->fetchColumn(), 5, [
            'query' => fn() => $db->query('select 6'), 'exec' => fn() => $db->exec('select 6'), 'prepare' => fn() => $db->prepare('select 6'),
            'execute' => fn() => $other->execute(), 'beginTransaction' => fn() => $db->beginTransaction(),
        ]);
        $statement = $db->prepare('select 5 from pg_sleep(0.3)');
        refused(function () use ($statement) {
            $statement->execute();
            return $statement->fetchColumn();
        }, 5, ['query' => fn() => $db->query('select 6'), 'another statement' => fn() => $other->execute()]);
    },
    'in use: pgsql' => function () {
        need('pgsql');
        $db = pg_connect(server('POSTGRES'), PGSQL_CONNECT_FORCE_NEW);
        pg_query($db, 'begin');
        $large = pg_lo_open($db, pg_lo_create($db), 'r+');
        refused(fn() => pg_fetch_result(pg_query($db, 'select 5 from pg_sleep(0.3)'), 0), '5', [
            'pg_query' => fn() => pg_query($db, 'select 6'), 'pg_query_params' => fn() => pg_query_params($db, 'select $1', [6]),
            'pg_lo_write' => fn() => pg_lo_write($large, 'six'), 'pg_close' => fn() => pg_close($db),
        ]);
        pg_lo_write($large, 'five') === 4 || fail('the large object is lost');
    },
    'in use: pdo_mysql' => function () {
        need('pdo_mysql');
        [$host, $port] = explode(':', server('MARIADB'));
        $db = new class("mysql:host=$host;port=$port", 'root', '') extends PDO {};
        $other = $db->prepare('select 7');
        refused(fn() => $db->query('select 5 + sleep(0.3)')->fetchColumn(), 5, [
            'query' => fn() => $db->query('select 6'), 'exec' => fn() => $db->exec('set @x = 1'), 'execute' => fn() => $other->execute(),
        ]);
        $db->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
        $statement = $db->prepare('select 5 + sleep(0.3)');
        refused(function () use ($statement) {
            $statement->execute();
            return $statement->fetchColumn();
        }, 5, ['query' => fn() => $db->query('select 6'), 'prepare' => fn() => $db->prepare('select 6')]);
    },
    'in use: mysqli' => function () {
        need('mysqli');
        [$host, $port] = explode(':', server('MARIADB'));
        $db = new mysqli($host, 'root', '', '', (int) $port);
        $other = $db->prepare('select 7');
        refused(fn() => $db->query('select 5 + sleep(0.3)')->fetch_row()[0], '5', [
            'query' => fn() => $db->query('select 6'), 'mysqli_query' => fn() => mysqli_query($db, 'select 6'),
            'execute' => fn() => $other->execute(), 'ping' => fn() => $db->ping(), 'close' => fn() => $db->close(),
        ]);
        $statement = $db->prepare('select 5 + sleep(0.3)');
        refused(function () use ($statement) {
            $statement->execute();
            return (int) $statement->get_result()->fetch_row()[0];
        }, 5, ['query' => fn() => $db->query('select 6'), 'another statement' => fn() => $other->execute()]);
    },
    'in use: redis' => function () {
        need('redis');
        [$host, $port] = explode(':', server('REDIS'));
        $redis = new Redis();
        $redis->connect($host, (int) $port);
        $slow = fn() => $redis->blPop('nothing', 1);
        refused($slow, [], ['get' => fn() => $redis->get('x'), 'set' => fn() => $redis->set('x', 'y'), 'close' => fn() => $redis->close()]);
    },
    'in use: memcached' => function () {
        need('memcached');
        [$host, $port] = explode(':', gate('memcached', count: 1, delay: 0.3));
        $memcached = new Memcached();
        $memcached->addServer($host, (int) $port);
        refused(fn() => $memcached->get('x'), 'pong', ['get' => fn() => $memcached->get('y'), 'set' => fn() => $memcached->set('x', 'y')]);
    },
];
