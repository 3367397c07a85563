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
    'in use: mysqli_poll' => function () {  // not the connection is in use, but the arrays
        need('mysqli');
        [$host, $port] = explode(':', server('MARIADB'));
        $db = new mysqli($host, 'root', '', '', (int) $port);
        foreach (['mysqli_poll', 'mysqli::poll'] as $poll) {
            foreach ([null, 'text', [new stdClass()], []] as $value) {
                $db->query('select 5 + sleep(0.1)', MYSQLI_ASYNC);
                $read = [$db];
                $error = $reject = [];
                $polling = spawn(function () use (&$read, &$error, &$reject, $poll) {
                    return $poll($read, $error, $reject, 5);
                });
                delay(20);
                [$read, $error, $reject] = [$value, $value, $value];
                await($polling) === 1 || fail("$poll: the number is wrong");
                [$read, $error, $reject] === [[$db], [], []] || fail("$poll got " . json_encode([$read, $error, $reject]));
                $db->reap_async_query()->fetch_row()[0] === '5' || fail("$poll: the result is wrong");
            }
        }
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
    'in use: amqp' => function () {
        need('amqp');
        [$host, $port] = explode(':', start('amqp', 1, 0.3));
        $connection = new AMQPConnection(['host' => $host, 'port' => (int) $port]);
        $connection->connect();
        $queue = function () use ($connection) {
            $queue = new class(new AMQPChannel($connection)) extends AMQPQueue {};
            $queue->setName('work');
            return $queue;
        };
        [$one, $two, $dropped] = [$queue(), $queue(), $queue()];
        $exchange = new AMQPExchange($two->getChannel());
        $uses = [
            'get' => fn() => $two->get(AMQP_AUTOACK), 'declareQueue' => fn() => $two->declareQueue(), 'publish' => fn() => $exchange->publish('x'),
            'qos' => fn() => $two->getChannel()->qos(0, 1), 'another channel' => fn() => new AMQPChannel($connection),
            'disconnect' => fn() => $connection->disconnect(),
        ];
        refused(fn() => $one->get(AMQP_AUTOACK)->getBody(), 'pong', $uses);
        $asking = spawn(fn() => $one->get(AMQP_AUTOACK)->getBody());
        delay(20);
        $two->getName() === 'work' && $connection->isConnected() || fail('one may not even look');
        $dropped = null;
        $asking->isCompleted() || fail('a channel was closed in the middle of a question');
        await($asking) === 'pong' || fail('the connection is lost');
        refused(function () use ($one, $two, $connection) {
            $one->consume(function (AMQPEnvelope $message, AMQPQueue $queue) use ($two, $connection, &$got) {
                $queue->ack($message->getDeliveryTag());
                $got = [$message->getBody(), $two->declareQueue(), (new AMQPChannel($connection))->isConnected()];
                delay(100);
                return false;
            });
            return $got;
        }, ['pong', 0, true], $uses);
    },
    'in use: ssh' => function () {
        need('ssh2');
        [$host, $port, $user, $key] = explode(':', server('SSH'));
        $connect = function () use ($host, $port, $user, $key) {
            $session = ssh2_connect($host, (int) $port);
            ssh2_auth_pubkey_file($session, $user, "$key.pub", $key) || fail('ssh refused the key');
            return $session;
        };
        $session = $connect();
        $run = function (string $command) use ($session) {
            $stream = ssh2_exec($session, $command);
            stream_set_blocking($stream, true);
            return $stream;
        };
        [$other, $dropped] = [$run('cat'), $run('cat')];
        $errors = ssh2_fetch_stream($other, SSH2_STREAM_STDERR);
        $sftp = ssh2_sftp($session);
        $url = 'ssh2.sftp://' . (int) $sftp;
        $file = fopen($url . __FILE__, 'r');
        $uses = [
            'ssh2_exec' => fn() => ssh2_exec($session, 'true'), 'ssh2_shell' => fn() => ssh2_shell($session), 'ssh2_sftp' => fn() => ssh2_sftp($session),
            'ssh2_sftp_stat' => fn() => ssh2_sftp_stat($sftp, '/'), 'fread' => fn() => fread($other, 5), 'fwrite' => fn() => fwrite($other, 'six'),
            'fgets of errors' => fn() => fgets($errors), 'fread of a file' => fn() => fread($file, 5), 'fopen' => fn() => fopen("$url/etc/passwd", 'r'),
            'file_get_contents' => fn() => file_get_contents("ssh2.sftp://$sftp/etc/passwd"), 'file_exists' => fn() => file_exists("$url/etc"),
            'opendir' => fn() => opendir("$url/etc"), 'rename' => fn() => rename("$url/does/not/exist", "$url/does/not/exist/either"),
            'stream_copy_to_stream' => fn() => stream_copy_to_stream($other, $GLOBALS['nowhere'] = fopen('php://memory', 'w')),
        ];
        refused(fn() => stream_get_contents($run('sleep 0.3; echo five')), "five\n", $uses);
        [$fifo, $own] = [getenv('IO_WORK') . '/fifo', $connect()];
        posix_mkfifo($fifo, 0600);
        $slow = function () use ($own, $url, $fifo) {
            $writing = ssh2_exec($own, "sleep 0.3; echo five >$fifo");
            return is_resource(fopen($url . $fifo, 'r'));  // when somebody writes
        };
        refused($slow, true, ['ssh2_exec' => $uses['ssh2_exec'], 'fread' => $uses['fread'], 'fread of a file' => $uses['fread of a file']]);
        foreach ([function () use (&$dropped) { $dropped = null; }, fn() => fclose($file)] as $close) {
            $reading = spawn(fn() => stream_get_contents($run('sleep 0.3; echo five')));
            delay(50);
            $close();
            $reading->isCompleted() || fail('a stream was closed in the middle of a read');
            await($reading) === "five\n" || fail('the session is lost');
        }
        fwrite($other, 'seven') && ssh2_send_eof($other) && stream_get_contents($other) === 'seven' || fail('the other stream is lost');
        file_get_contents($url . __FILE__) === file_get_contents(__FILE__) && in_array(basename(__FILE__), scandir($url . __DIR__)) || fail('files are lost');
    },
    'in use: pdo, persistent' => function () {
        need('pdo_pgsql', 'pdo_mysql');
        [$host, $port] = explode(':', server('MARIADB'));
        foreach ([
            ['pgsql:' . str_replace(' ', ';', server('POSTGRES')), 'postgres', 'select 5 from pg_sleep(0.3)'],
            ["mysql:host=$host;port=$port", 'root', 'select 5 + sleep(0.3)'],
        ] as [$dsn, $user, $query]) {
            $connect = fn() => new PDO($dsn, $user, '', [PDO::ATTR_PERSISTENT => true]);
            $all = [];
            for ($i = 0; $i < 3; $i++) {
                $all[] = spawn($connect);
            }
            $all = array_map(await(...), $all);
            refused(fn() => $all[0]->query($query)->fetchColumn(), 5, [
                'another object' => fn() => $all[1]->query('select 6'), 'opening' => $connect,
            ]);
            $connect()->query('select 7')->fetchColumn() === 7 || fail('the connection is lost');
        }
    },
    'in use: pgsql, persistent or not named' => function () {
        need('pgsql');
        $connect = fn() => pg_pconnect(server('POSTGRES'));
        $all = [spawn($connect), spawn($connect), spawn($connect)];
        $all = array_map(await(...), $all);
        $slow = fn() => @pg_fetch_result(pg_query($all[0], 'select 5 from pg_sleep(0.3)'), 0);
        refused($slow, '5', ['another object' => fn() => pg_query($all[1], 'select 6'), 'opening' => $connect]);
        foreach (['pg_connect', 'pg_pconnect'] as $open) {
            $open(server('POSTGRES'));
            refused(fn() => pg_fetch_result(@pg_query('select 5 from pg_sleep(0.3)'), 0), '5', [
                'pg_query' => fn() => @pg_query('select 6'), 'pg_dbname' => fn() => @pg_dbname(), 'pg_close' => fn() => @pg_close(),
            ]);
        }
        @pg_close();
        $own = pg_connect(server('POSTGRES'), PGSQL_CONNECT_FORCE_NEW);
        pg_fetch_result(pg_query($own, 'select 7'), 0) === '7' || fail('another connection is lost');
    },
    'in use: pdo_pgsql, not by a call' => function () {
        need('pdo_pgsql');
        $db = new PDO('pgsql:' . str_replace(' ', ';', server('POSTGRES')));
        $db->exec('create temporary table rows (a text)');
        $db->beginTransaction();
        $large = $db->pgsqlLOBOpen($db->pgsqlLOBCreate(), 'w');
        fwrite($large, 'seven');
        $uses = [
            'a method of the driver' => fn() => $db->pgsqlCopyToArray('rows'), 'fread' => fn() => fread($large, 5), 'fwrite' => fn() => fwrite($large, 'six'),
            'fseek' => fn() => fseek($large, 0),
        ];
        refused(fn() => $db->query('select 5 from pg_sleep(0.3)')->fetchColumn(), 5, $uses);
        $count = function () use ($db) {
            $statement = $db->prepare('select i from generate_series(1, 3) i, lateral (select pg_sleep(0.1 + i * 0)) x', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
            $statement->execute();
            foreach ($statement as $row) {
                $rows[] = $row[0];
            }
            return $rows;
        };
        refused(function () use ($count) {
            delay(1);
            return $count();
        }, [1, 2, 3], ['query' => fn() => $db->query('select 6')]);
        fseek($large, 0) === 0 && fread($large, 5) === 'seven' || fail('the large object is lost');
        $statements = [];
        for ($i = 0; $i < 2; $i++) {
            $statements[$i] = $db->prepare('select ?::int');
            $statements[$i]->execute([1]);
            $statements[$i]->fetchAll();
        }
        $asking = spawn(fn() => $db->query('select 5 from pg_sleep(0.2)')->fetchColumn());
        delay(50);
        $statements = null;
        $large = null;
        $asking->isCompleted() || fail('a statement was freed in the middle of a query');
        await($asking) === 5 && $db->query('select 7')->fetchColumn() === 7 || fail('the connection is lost');
    },
    'in use: mysqli, foreach' => function () {
        need('mysqli');
        [$host, $port] = explode(':', server('MARIADB'));
        $db = new mysqli($host, 'root', '', '', (int) $port);
        $slow = function () use ($db) {
            // The first row comes at once: it is in foreach that the coroutine waits.
            $query = "select sleep(0), repeat('x', 40000) union all select sleep(0.2), repeat('x', 40000) union all select sleep(0.1), repeat('x', 40000)";
            foreach ($db->query($query, MYSQLI_USE_RESULT) as $row) {
                $rows[] = strlen($row["repeat('x', 40000)"]);
            }
            return $rows;
        };
        refused($slow, [40000, 40000, 40000], ['query' => fn() => $db->query('select 6')]);
    },
    'in use: redis, persistent' => function () {
        need('redis');
        [$host, $port] = explode(':', server('REDIS'));
        ini_set('redis.pconnect.pooling_enabled', '0');
        $connect = function () use ($host, $port) {
            $redis = new Redis();
            $redis->pconnect($host, (int) $port);
            return $redis;
        };
        $all = [spawn($connect), spawn($connect), spawn($connect)];
        [$one, $same, $dropped] = array_map(await(...), $all);
        refused(fn() => $one->blPop('nothing', 1), [], ['get' => fn() => $same->get('x'), 'blPop' => fn() => $dropped->blPop('other', 1)]);
        $other = new Redis();
        $other->connect($host, (int) $port);
        $listening = spawn(fn() => $one->subscribe(['news'], function () use ($other) {
            $other->blPop('nothing', 1);
        }));
        delay(50);
        $third = new Redis();
        $third->connect($host, (int) $port);
        $third->publish('news', 'x');
        delay(50);
        try {
            $same->get('x');
            fail('let in while a callback waits');
        } catch (Async\AsyncException) {
        }
        $listening->cancel();
    },
    'in use: memcached, persistent' => function () {
        need('memcached');
        [$host, $port] = explode(':', gate('memcached', count: 1, delay: 0.3));
        $connect = function () use ($host, $port) {
            $memcached = new Memcached('kept');
            $memcached->getServerList() || $memcached->addServer($host, (int) $port);
            return $memcached;
        };
        [$one, $same] = [$connect(), $connect()];
        refused(fn() => $one->get('x'), 'pong', ['get' => fn() => $same->get('y'), 'set' => fn() => $same->set('x', 'y')]);
    },
];
