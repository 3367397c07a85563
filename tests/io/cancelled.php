<?php
// Rows of the matrix: a query that was cancelled. Nobody may get its answer, neither from the same connection nor from what a pool makes of it.
use function Async\{spawn, await, delay};

/** Cancels $slow, which asks for 'secret', then asks 101, 102, ...: the right answer or an error. */
function cancelled(string $name, callable $slow, callable $ask, int $after = 50): void {
    $first = spawn($slow);
    delay($after);
    $first->cancel();
    try {
        await($first);
        fail("$name: not cancelled");
    } catch (Async\AsyncCancellation) {
    }
    unset($first);
    for ($i = 101; $i < 106; $i++) {
        try {
            $got = @$ask($i);
        } catch (Exception $e) {
            $got = false;
        }
        $got === false || (int) $got === $i || fail("$name: asked for $i, got " . json_encode($got));
    }
}

return [
    'cancelled: pdo_pgsql' => function () {
        need('pdo_pgsql');
        foreach ([false, true] as $emulate) {
            $connect = fn(bool $keep) => new PDO('pgsql:' . str_replace(' ', ';', server('POSTGRES')), 'postgres', '',
                [PDO::ATTR_EMULATE_PREPARES => $emulate, PDO::ATTR_PERSISTENT => $keep]);
            $ask = fn(PDO $db, int $i) => $db->query("select $i")->fetchColumn();
            $db = $connect(false);
            cancelled('query', fn() => $db->query("select 'secret' from pg_sleep(0.2)")->fetchColumn(), fn(int $i) => $ask($db, $i));
            $db = $connect(false);
            $bound = function (int $i) use ($db) {
                $statement = $db->prepare('select ?::int');
                $statement->execute([$i]);
                return $statement->fetchColumn();
            };
            cancelled('execute', fn() => $db->query("select 'secret' from pg_sleep(0.2)")->fetchColumn(), $bound);
            cancelled('persistent', fn() => $connect(true)->query("select 'secret' from pg_sleep(0.2)")->fetchColumn(), fn(int $i) => $ask($connect(true), $i));
            $ask($connect(true), 7) === 7 || fail('a persistent connection stays broken');
        }
    },
    'cancelled: pgsql' => function () {
        need('pgsql');
        $ask = fn($db, int $i) => pg_fetch_result(pg_query($db, "select $i") ?: throw new Exception(pg_last_error($db)), 0);
        foreach ([
            'pg_query' => fn($db) => pg_query($db, "select 'secret' from pg_sleep(0.2)"),
            'pg_query_params' => fn($db) => pg_query_params($db, "select 'secret' || $1 from pg_sleep(0.2)", ['x']),
            'pg_copy_to' => fn($db) => pg_copy_to($db, '(select generate_series(1, 3), pg_sleep(0.1))'),
        ] as $name => $slow) {
            $db = pg_connect(server('POSTGRES'), PGSQL_CONNECT_FORCE_NEW);
            cancelled($name, fn() => $slow($db), fn(int $i) => $ask($db, $i));
            cancelled("persistent $name", fn() => $slow(pg_pconnect(server('POSTGRES'))), fn(int $i) => $ask(@pg_pconnect(server('POSTGRES')), $i));
        }
    },
    // Cancelled when some of it has come: libpq would go on with the copy whenever it is asked anything.
    'cancelled: pgsql, in mid-copy' => function () {
        need('pgsql');
        $slow = 'create function pg_temp.slow() returns trigger language plpgsql as
            \'begin perform pg_sleep(0.01); return new; end\'; create temp table slow(a text);
            create trigger slow before insert on slow for each row execute function pg_temp.slow()';
        foreach ([
            'pg_copy_to' => fn($db) => pg_copy_to($db, "(select repeat('x', 9000), pg_sleep(0.02) from generate_series(1, 50))"),
            'pg_copy_from' => fn($db) => pg_copy_from($db, 'slow', array_fill(0, 60_000, str_repeat('x', 200) . "\n")),
        ] as $name => $copy) {
            foreach (['query', 'close', 'end'] as $then) {
                $db = pg_connect(server('POSTGRES'), PGSQL_CONNECT_FORCE_NEW);
                pg_query($db, $slow);
                cancelled("$name, $then", fn() => $copy($db), fn(int $i) => $then === 'query'
                    ? (($result = pg_query($db, "select $i")) ? pg_fetch_result($result, 0) : false)
                    : false, 200);
                pg_connection_status($db) === PGSQL_CONNECTION_BAD || fail("$name: the connection looks alive");
                if ($then === 'close') {
                    pg_close($db);
                }
                unset($db);
            }
        }
    },
    // What is freed on the way out talks to a connection that was not asked anything.
    'cancelled: pdo_pgsql, elsewhere' => function () {
        need('pdo_pgsql');
        $db = new PDO('pgsql:' . str_replace(' ', ';', server('POSTGRES')));
        foreach (['directly', 'array_map'] as $how) {
            $wait = function () use ($db) {
                for ($i = 0; $i < 20; $i++) {
                    $statements[$i] = $db->prepare('select ?::int');
                    $statements[$i]->execute([1]);
                }
                usleep(500_000);
            };
            cancelled($how, $how === 'directly' ? $wait : fn() => array_map($wait, [1]), fn(int $i) => $db->query("select $i")->fetchColumn());
            $db->query('select 7')->fetchColumn() === 7 || fail('the connection is broken');
        }
    },
    // The callback is cancelled, not the library, which would wait for the next message.
    'cancelled: redis, in a callback' => function () {
        need('redis');
        $connect = function () {
            $redis = new Redis();
            $redis->connect(...explode(':', server('REDIS')));
            return $redis;
        };
        foreach (['subscribe', 'psubscribe'] as $method) {
            $is_called = false;
            $wait = function () use (&$is_called) {
                $is_called = true;
                delay(60_000);
            };
            $subscriber = spawn(fn() => $connect()->$method(["cancelled-$method"], $wait));
            while (!$is_called) {
                $connect()->publish("cancelled-$method", 'message');
                delay(5);
            }
            $subscriber->cancel();
            try {
                await($subscriber);
                fail("$method: not cancelled");
            } catch (Async\AsyncCancellation) {
            }
        }
    },
    'cancelled: mysqli, pdo_mysql' => function () {
        need('mysqli', 'pdo_mysql');
        [$host, $port] = explode(':', server('MARIADB'));
        $db = new mysqli($host, 'root', '', '', (int) $port);
        cancelled('mysqli', fn() => $db->query("select 'secret', sleep(0.2)"), fn(int $i) => $db->query("select $i")->fetch_row()[0]);
        $pdo = new PDO("mysql:host=$host;port=$port", 'root', '');
        cancelled('pdo_mysql', fn() => $pdo->query("select 'secret', sleep(0.2)"), fn(int $i) => $pdo->query("select $i")->fetchColumn());
    },
    // What is freed when the callback ends reads the rest of its rows; the connection has nothing to do with the cancellation.
    'cancelled: mysqli, beside' => function () {
        need('mysqli');
        [$host, $port] = explode(':', server('MARIADB'));
        $db = new mysqli($host, 'root', '', 'io', (int) $port);
        foreach (['delay' => fn() => delay(60_000), 'usleep' => fn() => usleep(60_000_000)] as $how => $pause) {
            $rows = function () use ($db, $pause) {
                $statement = $db->prepare("select repeat('x', 1000) from seq_1_to_20000");
                $statement->execute();
                $statement->bind_result($text);
                $statement->fetch();
                $pause();
            };
            foreach (['array_map' => fn() => array_map($rows, [1]), 'reflection' => fn() => (new ReflectionFunction($rows))->invoke()] as $by => $call) {
                $coroutine = spawn($call);
                delay(100);
                $coroutine->cancel();
                try {
                    await($coroutine);
                    fail("$how, $by: not cancelled");
                } catch (Async\AsyncCancellation) {
                }
                $db->query('select 7')->fetch_row()[0] === '7' || fail("$how, $by: the connection is broken");
            }
        }
    },
    'cancelled: redis' => function () {
        need('redis');
        [$host, $port] = explode(':', server('REDIS'));
        $redis = new Redis();
        $redis->connect($host, (int) $port);
        cancelled('redis', fn() => $redis->blPop('secret', 1), fn(int $i) => $redis->eval("return $i"));
    },
];
