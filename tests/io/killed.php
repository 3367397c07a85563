<?php
// Databases killed while coroutines wait for their answers: php killed.php CASE    prints nothing when all is well
//
// Without a case: their names. The servers are those that IO_POSTGRES, IO_MARIADB and IO_REDIS name; each case leaves its own dead. Exit 77 and
// a reason when something it needs is not here.
use function Async\{spawn, await, suspend};

const COUNT = 20;

function check(bool $is_so, string $what): void { $is_so || print("$what\n"); }
function descriptors(): int { return count(scandir('/proc/self/fd')); }

/** Where a server is, if it and what talks to it are here. */
function server(string $name, string ...$extensions): string {
    foreach ($extensions as $extension) {
        extension_loaded($extension) || exit(print("the extension $extension is not here") * 77);
    }
    return getenv("IO_$name") ?: exit(print("there is no server for $name") * 77);
}

/**
 * COUNT coroutines for each driver ask what is not answered; then somebody kills.
 *
 * @param callable[] $drivers   by name: a function that connects, asks and returns what it got
 * @param string[] $errors      by driver: the pattern of what it says of a lost server, with the class if it throws
 * @param callable $asked       how many the server is busy with
 */
function lost(array $drivers, array $errors, callable $asked, callable $kill): void {
    await(spawn(fn() => null));
    $before = descriptors();
    $told = [];
    $all = [];
    foreach ($drivers as $name => $ask) {
        for ($i = 0; $i < COUNT; $i++) {
            $all[] = spawn(function () use ($name, $ask, &$told) {
                try {
                    $told[$name][] = 'got ' . json_encode($ask());
                } catch (Exception $e) {
                    $told[$name][] = get_class($e) . ': ' . $e->getMessage();
                }
            });
        }
    }
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $echoes = 0;
    $echo = spawn(function () use ($b) {
        while (($line = fgets($b)) !== false) {
            fwrite($b, $line);
        }
    });
    $other = spawn(function () use ($a, &$echoes, &$is_over) {
        for (; !$is_over; $echoes++) {
            fwrite($a, "$echoes\n");
            check(fgets($a) === "$echoes\n", 'somebody else was disturbed');
            usleep(1000);
        }
    });
    while ($asked() < count($all)) {
        usleep(5000);
    }
    check($told === [], 'answered before: ' . json_encode($told));
    $kill();
    $so_far = $echoes;
    array_map(await(...), $all);
    while ($echoes < $so_far + 5) {
        usleep(1000);
    }
    $is_over = true;
    await($other);
    $a = null;
    await($echo);
    $all = $b = $echo = $other = null;
    foreach ($drivers as $name => $ask) {
        check(count($told[$name]) === COUNT, "$name: " . count($told[$name]) . ' ended');
        $wrong = preg_grep($errors[$name], $told[$name], PREG_GREP_INVERT);
        check($wrong === [], "$name: " . reset($wrong));
    }
    check(descriptors() <= $before, descriptors() - $before . ' descriptors were left open');
}

/** What PHP would print; the last of it is the answer of functions that only warn. */
set_error_handler(function (int $type, string $message) {
    global $warning;
    $warning = $message;
    return true;
});

function kill(int $process): void { posix_kill($process, SIGKILL) || print("there is no process $process\n"); }

$postgres = function (callable $kill) {
    $address = server('POSTGRES', 'pdo_pgsql', 'pgsql', 'posix');
    $dsn = 'pgsql:' . str_replace(' ', ';', $address);
    $watcher = new PDO($dsn);
    lost([
        'pdo_pgsql' => fn() => (new PDO($dsn))->query('select pg_sleep(60)')->fetchColumn(),
        'pg_query' => fn() => @pg_query($db = pg_connect($address, PGSQL_CONNECT_FORCE_NEW), 'select pg_sleep(60)') ?: pg_last_error($db),
    ], [
        'pdo_pgsql' => '/^PDOException: SQLSTATE\[(HY000|57P02|57P01)\]/',
        'pg_query' => '/^got ".*(terminat|closed)/',
    ], fn() => $watcher->query("select count(*) from pg_stat_activity where state = 'active' and query = 'select pg_sleep(60)'")->fetchColumn(),
        fn() => $kill($watcher));
};
$cases = [
    // The server ends all of its processes when one was killed, and begins again.
    'PostgreSQL: one of its processes is killed' => function () use ($postgres) {
        $postgres(fn($db) => kill($db->query("select pid from pg_stat_activity where query = 'select pg_sleep(60)' limit 1")->fetchColumn()));
        while (!@pg_connect(server('POSTGRES'))) {
            usleep(10_000);
        }
    },
    'PostgreSQL is killed' => function () use ($postgres) {
        $postgres(fn($db) => kill((int) file($db->query('show data_directory')->fetchColumn() . '/postmaster.pid')[0]));
    },
    'MariaDB is killed' => function () {
        [$host, $port] = explode(':', server('MARIADB', 'pdo_mysql', 'mysqli', 'posix'));
        $watcher = new PDO("mysql:host=$host;port=$port", 'root');
        lost([
            'pdo_mysql' => fn() => (new PDO("mysql:host=$host;port=$port", 'root'))->query('select sleep(60)')->fetchColumn(),
            'mysqli' => fn() => (new mysqli($host, 'root', '', '', (int) $port))->query('select sleep(60)')->fetch_row(),
        ], [
            'pdo_mysql' => '/^PDOException: SQLSTATE\[HY000\].* (2006|2013) /',
            'mysqli' => '/^mysqli_sql_exception: (MySQL server has gone away|Lost connection)/',
        ], fn() => $watcher->query("select count(*) from information_schema.processlist where info = 'select sleep(60)'")->fetchColumn(),
            fn() => kill((int) file_get_contents($watcher->query('select @@pid_file')->fetchColumn())));
    },
    'Redis is killed' => function () {
        [$host, $port] = explode(':', server('REDIS', 'redis', 'posix'));
        $connect = function () use ($host, $port) {
            $redis = new Redis();
            $redis->connect($host, (int) $port);
            return $redis;
        };
        $watcher = $connect();
        lost(
            ['redis' => fn() => $connect()->blPop('nothing', 60)],
            ['redis' => '/^RedisException: (read error on connection|Connection lost|socket error)/'],
            fn() => $watcher->info('clients')['blocked_clients'],
            fn() => kill($watcher->info('server')['process_id']),
        );
    },
];

if (!isset($argv[1])) {
    echo implode("\n", array_keys($cases)), "\n";
} else {
    await(spawn($cases[$argv[1]]));
}
