<?php
// The matrix of blocking calls. One row is COUNT coroutines that make one blocking call each.
//
// Usage: php matrix.php            lists the rows
//        php matrix.php ROW        runs one: exit 0 and nothing said, or the reason; 77 and a reason when something it needs is not here
use function Async\{spawn, await, await_all, suspend, delay};

const COUNT = 20;
const SKIPPED = 77;

function skip(string $reason): never {
    echo $reason;
    exit(SKIPPED);
}
function fail(string $reason): never {
    echo $reason;
    exit(1);
}
function need(string ...$extensions): void {
    foreach ($extensions as $extension) {
        extension_loaded($extension) || skip("the extension $extension is not here");
    }
}

/** All at the same time. Anything else than $expected from one of them is a failure. */
function at_once(callable $call, mixed $expected): float {
    $begin = hrtime(true);
    for ($i = 0; $i < COUNT; $i++) {
        $all[] = spawn($call, $i);
    }
    [$results, $errors] = await_all($all);
    foreach ($errors as $error) {
        fail(get_class($error) . ': ' . $error->getMessage());
    }
    foreach ($results as $i => $result) {
        $result === $expected || fail("coroutine $i got " . json_encode($result));
    }
    return (hrtime(true) - $begin) / 1e9;
}

/** For calls that no server answers: together they take less than half of the sum. */
function overlapping(float $each, callable $call, mixed $expected): void {
    $took = at_once($call, $expected);
    $took < COUNT * $each / 2 || fail(sprintf('%.2f s for %d of %.2f s', $took, COUNT, $each));
}

/** Starts a server of ours and returns the line that it begins with: its address. */
function start(string $program, string|float|int ...$arguments): string {
    static $servers = [];
    $command = [PHP_BINARY, '-n', __DIR__ . "/$program.php", ...array_map('strval', $arguments)];
    $servers[] = $server = proc_open($command, [1 => ['pipe', 'w']], $pipes);
    register_shutdown_function(fn() => proc_terminate($server));
    return trim(fgets($pipes[1])) ?: fail("the server $program did not start");
}

function gate(string $protocol, string $address = 'tcp://127.0.0.1:0', int $count = COUNT, float $delay = 0): string {
    $address = $protocol === 'https' || $protocol === 'tls' ? str_replace('tcp:', 'tls:', $address) : $address;
    return start('gate', $protocol, $address, $count, $delay);
}

/** What a real server of Debian needs is told by the script that starts it. */
function server(string $name): string {
    return getenv("IO_$name") ?: skip("there is no server: $name");
}

/** An http client by hand, over any stream. */
function ask($stream): string {
    fwrite($stream, "ping\n");
    return fgets($stream);
}

$insecure = ['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]];
$temporary = fn(string $name): string => getenv('IO_WORK') . "/$name";

$rows = [
    'sleep' => fn() => overlapping(1, fn() => sleep(1), 0),
    'usleep' => fn() => overlapping(0.2, fn() => usleep(200_000), null),
    'time_nanosleep' => fn() => overlapping(0.2, fn() => time_nanosleep(0, 200_000_000), true),
    'time_sleep_until' => fn() => overlapping(0.2, fn() => time_sleep_until(microtime(true) + 0.2), true),

    'file_get_contents http' => function () {
        $address = gate('http');
        at_once(fn() => file_get_contents("http://$address/"), 'pong');
    },
    'file_get_contents https' => function () use ($insecure) {
        $address = gate('https');
        at_once(fn() => file_get_contents("https://$address/", false, stream_context_create($insecure)), 'pong');
    },
    'fgets tcp' => function () {
        $address = gate('line');
        at_once(fn() => ask(stream_socket_client("tcp://$address")), "pong\n");
    },
    'fgets fsockopen' => function () {
        [$host, $port] = explode(':', gate('line'));
        at_once(fn() => ask(fsockopen('localhost', (int) $port)), "pong\n");
    },
    'fgets unix' => function () use ($temporary) {
        $address = 'unix://' . $temporary('gate');
        gate('line', $address);
        at_once(fn() => ask(stream_socket_client($address)), "pong\n");
    },
    'fgets tls' => function () use ($insecure) {
        $address = gate('tls');
        at_once(fn() => ask(stream_socket_client("tls://$address", $n, $e, 5, context: stream_context_create($insecure))), "pong\n");
    },
    'stream_select' => function () {
        $address = gate('line');
        at_once(function () use ($address) {
            $readable = [$stream = stream_socket_client("tcp://$address")];
            $none = null;
            fwrite($stream, "ping\n");
            return stream_select($readable, $none, $none, 9);
        }, 1);
    },
    'stream_socket_accept' => function () {
        $waiting = 0;
        at_once(function () use (&$waiting) {
            $server = stream_socket_server('tcp://127.0.0.1:0');
            $name = stream_socket_get_name($server, false);
            spawn(function () use ($name, &$waiting) {  // connects when all are in accept
                while ($waiting < COUNT) {
                    delay(1);
                }
                fwrite(stream_socket_client("tcp://$name"), "x\n");
            });
            $waiting++;
            return fgets(stream_socket_accept($server, 9));
        }, "x\n");
    },
    'curl_exec' => function () {
        need('curl');
        $address = gate('http');
        at_once(function () use ($address) {
            $handle = curl_init("http://$address/");
            curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
            return curl_exec($handle);
        }, 'pong');
    },
    'curl_exec https, host name' => function () {
        need('curl');
        [, $port] = explode(':', gate('https'));
        at_once(function () use ($port) {
            $handle = curl_init("https://localhost:$port/");
            curl_setopt_array($handle, [
                CURLOPT_RETURNTRANSFER => true, CURLOPT_SSL_VERIFYPEER => false, CURLOPT_SSL_VERIFYHOST => 0,
                CURLOPT_IPRESOLVE => CURL_IPRESOLVE_V4,
            ]);
            return curl_exec($handle) ?: curl_error($handle);
        }, 'pong');
    },
    'curl_multi' => function () {
        need('curl');
        $address = gate('http');
        at_once(function () use ($address) {
            $multi = curl_multi_init();
            $handle = curl_init("http://$address/");
            curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
            curl_multi_add_handle($multi, $handle);
            do {
                curl_multi_exec($multi, $running);
                curl_multi_select($multi, 9);
            } while ($running);
            return curl_multi_getcontent($handle);
        }, 'pong');
    },
    'socket_recv' => function () {
        need('sockets');
        [$host, $port] = explode(':', gate('line'));
        at_once(function () use ($host, $port) {
            $socket = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
            socket_connect($socket, $host, (int) $port);
            socket_write($socket, "ping\n");
            socket_recv($socket, $data, 5, MSG_WAITALL);
            return $data;
        }, "pong\n");
    },
    'socket_read, socket_select' => function () {
        need('sockets');
        [$host, $port] = explode(':', gate('line'));
        at_once(function () use ($port) {
            $socket = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
            socket_connect($socket, 'localhost', (int) $port);
            socket_send($socket, "ping\n", 5, 0);
            $readable = [$socket];
            $none = null;
            return [socket_select($readable, $none, $none, 9), socket_read($socket, 10)];
        }, [1, "pong\n"]);
    },
    'socket_accept' => function () {
        need('sockets');
        $waiting = 0;
        at_once(function () use (&$waiting) {
            $server = socket_create_listen(0);
            socket_getsockname($server, $host, $port);
            spawn(function () use ($port, &$waiting) {
                while ($waiting < COUNT) {
                    delay(1);
                }
                $client = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
                socket_connect($client, '127.0.0.1', $port);
                socket_write($client, 'x');
            });
            $waiting++;
            return socket_read(socket_accept($server), 1);
        }, 'x');
    },

    'exec' => fn() => overlapping(0.3, fn() => exec('sleep 0.3; echo hi'), 'hi'),
    'shell_exec' => fn() => overlapping(0.3, fn() => shell_exec('sleep 0.3; echo hi'), "hi\n"),
    'system' => fn() => overlapping(0.3, fn() => system('sleep 0.3'), ''),
    'passthru' => fn() => overlapping(0.3, fn() => passthru('sleep 0.3'), null),
    'popen' => fn() => overlapping(0.3, function () {
        $pipe = popen('sleep 0.3; echo hi; exit 3', 'r');
        return [fgets($pipe), pclose($pipe)];
    }, ["hi\n", 3]),
    'proc_open, proc_close' => fn() => overlapping(0.3, fn() => proc_close(proc_open('sleep 0.3; exit 4', [], $pipes)), 4),
    'mail' => function () {
        str_contains(ini_get('sendmail_path'), 'sleep') || skip('needs a slow sendmail');
        overlapping(0.3, fn() => mail('a@example.org', 'subject', 'text'), true);
    },

    'gethostbyname' => fn() => at_once(fn() => gethostbyname('localhost'), '127.0.0.1'),
    'gethostbyaddr' => fn() => at_once(fn() => gethostbyaddr('127.0.0.1'), gethostbyaddr('127.0.0.1')),

    'flock' => function () use ($temporary) {
        $name = $temporary('lock');
        $holder = proc_open(['flock', $name, 'sh', '-c', 'echo; sleep 0.5'], [1 => ['pipe', 'w']], $pipes);
        $holder !== false && fgets($pipes[1]) !== false || skip('there is no flock(1)');
        overlapping(0.5, fn() => flock(fopen($name, 'c'), LOCK_SH), true);
        proc_close($holder);
    },
    'fifo' => function () use ($temporary) {
        need('posix');
        $waiting = 0;
        at_once(function (int $i) use ($temporary, &$waiting) {
            posix_mkfifo($name = $temporary("fifo$i"), 0600);
            $fifo = fopen($name, 'r+');
            spawn(function () use ($name, &$waiting) {
                while ($waiting < COUNT) {
                    delay(1);
                }
                fwrite(fopen($name, 'r+'), "x\n");
            });
            $waiting++;
            return fgets($fifo);
        }, "x\n");
    },
    'fgets(STDIN)' => function () {
        $reader = spawn(fn() => fgets(STDIN));  // a pipe that ends after a while
        $turns = 0;
        while (!$reader->isCompleted()) {
            $turns++;
            delay(1);
        }
        $turns > 20 || fail('others did not run');
    },
    'ftp' => function () {
        $address = start('ftp', COUNT);
        at_once(fn($i) => file_get_contents("ftp://$address/file$i"), 'pong');
    },
    'SoapClient' => function () {
        need('soap');
        $address = gate('soap');
        at_once(fn() => (new SoapClient(null, ['location' => "http://$address/", 'uri' => 'urn:test']))->ask('ping'), 'pong');
    },
    'ssh2_exec' => function () use ($temporary) {  // each command ends when all have begun
        need('ssh2');
        [$host, $port, $user, $key] = explode(':', server('SSH'));
        mkdir($here = $temporary('arrived'));
        at_once(function (int $i) use ($host, $port, $user, $key, $here) {
            $session = ssh2_connect($host, (int) $port);
            ssh2_auth_pubkey_file($session, $user, "$key.pub", $key) || fail('ssh refused the key');
            $wait = 'while [ $(ls ' . $here . ' | wc -l) -lt ' . COUNT . ' ]; do sleep 0.05; done';
            $stream = ssh2_exec($session, "touch $here/$i; timeout 9 sh -c '$wait' && echo pong");
            stream_set_blocking($stream, true);
            return stream_get_contents($stream);
        }, "pong\n");
    },
    'FFI' => function () {
        need('FFI');
        await(spawn(fn() => null));
        $libc = FFI::cdef('int usleep(unsigned microseconds);');
        overlapping(0.2, fn() => $libc->usleep(200_000), 0);
    },
    'pdo_sqlite' => function () use ($temporary) {
        need('pdo_sqlite');
        $holder = new PDO($dsn = 'sqlite:' . $temporary('pdo.sqlite'));
        $holder->exec('create table t (x)');
        $holder->exec('begin exclusive');
        spawn(function () use ($holder) {
            usleep(300_000);
            $holder->exec('commit');
        });
        overlapping(0.5, fn() => (new PDO($dsn, null, null, [PDO::ATTR_TIMEOUT => 9]))->exec('insert into t values (1)'), 1);
    },
    'sqlite3' => function () use ($temporary) {
        need('sqlite3');
        $holder = new SQLite3($name = $temporary('own.sqlite'));
        $holder->exec('create table t (x)');
        $holder->exec('begin exclusive');
        spawn(function () use ($holder) {
            usleep(300_000);
            $holder->exec('commit');
        });
        overlapping(0.5, function () use ($name) {
            $database = new SQLite3($name);
            $database->busyTimeout(9000);
            return $database->exec('insert into t values (1)');
        }, true);
    },

    // The functions of the database wait until all are there.
    'pg_query' => function () {
        need('pgsql');
        $connect = fn() => pg_connect(server('POSTGRES'), PGSQL_CONNECT_FORCE_NEW);
        pg_query($connect(), 'delete from arrivals');
        at_once(fn() => pg_fetch_row(pg_query($connect(), 'select arrive(' . COUNT . ')'))[0], (string) COUNT);
    },
    'pdo_pgsql' => function () {
        need('pdo_pgsql');
        $connect = fn() => new PDO('pgsql:' . str_replace(' ', ';', server('POSTGRES')));
        $connect()->exec('delete from arrivals');
        at_once(fn() => $connect()->query('select arrive(' . COUNT . ')')->fetchColumn(), COUNT);
    },
    'mysqli' => function () {
        need('mysqli');
        [$host, $port] = explode(':', server('MARIADB'));
        $connect = fn() => new mysqli($host, 'root', '', 'io', (int) $port);
        $connect()->query('delete from arrivals');
        at_once(fn() => $connect()->query('call arrive(' . COUNT . ')')->fetch_row()[0], (string) COUNT);
    },
    'pdo_mysql' => function () {
        need('pdo_mysql');
        [$host, $port] = explode(':', server('MARIADB'));
        $connect = fn() => new PDO("mysql:host=$host;port=$port;dbname=io", 'root', '');
        $connect()->exec('delete from arrivals');
        at_once(fn() => $connect()->query('call arrive(' . COUNT . ')')->fetchColumn(), COUNT);
    },
    'memcached' => function () {
        need('memcached');
        [$host, $port] = explode(':', gate('memcached'));
        at_once(function () use ($host, $port) {
            $memcached = new Memcached();
            $memcached->addServer($host, (int) $port);
            return $memcached->get('x');
        }, 'pong');
    },
    'amqp' => function () {
        need('amqp');
        [$host, $port] = explode(':', start('amqp', COUNT));
        $queues = array_map(function () use ($host, $port) {
            $connection = new AMQPConnection(['host' => $host, 'port' => (int) $port]);
            $connection->connect();
            $queue = new AMQPQueue(new AMQPChannel($connection));
            $queue->setName('work');
            return $queue;
        }, range(1, COUNT));
        at_once(fn(int $i) => $queues[$i]->get(AMQP_AUTOACK)->getBody(), 'pong');
    },
    'memcached, the real one' => function () {  // it never lets anybody wait
        need('memcached');
        [$host, $port] = explode(':', server('MEMCACHED'));
        at_once(function (int $i) use ($host, $port) {
            $memcached = new Memcached();
            $memcached->addServer($host, (int) $port);
            for ($k = 0, $right = 0; $k < 50; $k++) {
                $right += $memcached->set("key$i.$k", str_repeat("$i.$k ", 5000)) && $memcached->get("key$i.$k") === str_repeat("$i.$k ", 5000);
            }
            return $right;
        }, 50);
    },
    'redis' => function () {
        need('redis');
        [$host, $port] = explode(':', server('REDIS'));
        $connect = function () use ($host, $port) {
            $redis = new Redis();
            $redis->connect($host, (int) $port);
            return $redis;
        };
        spawn(function () use ($connect) {  // answers when all are waiting
            $redis = $connect();
            while ($redis->info('clients')['blocked_clients'] < COUNT) {
                delay(5);
            }
            for ($i = 0; $i < COUNT; $i++) {
                $redis->rPush("list$i", 'x');
            }
        });
        at_once(fn($i) => $connect()->blPop("list$i", 9)[1], 'x');
    },

    'chaos' => function () {
        $GLOBALS['argv'] = ['chaos', '400'];
        $argv = $GLOBALS['argv'];
        require __DIR__ . '/chaos.php';
    },
];
$rows += require __DIR__ . '/in_use.php';
$rows += require __DIR__ . '/cancelled.php';
$rows += require __DIR__ . '/names.php';
$rows += require __DIR__ . '/libraries.php';

if ($argc < 2) {
    echo implode("\n", array_keys($rows)), "\n";
    exit;
}
$rows[$argv[1]]();
