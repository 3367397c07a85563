<?php
// Rows of the matrix: libraries of Debian, unchanged. What each does in many coroutines at once is what it does in one after another.
use function Async\{spawn, await_all};

/** @param callable $scenario  takes a number; most of its time it waits. Its results may be anything comparable. */
function same(callable $scenario): void {
    $begin = hrtime(true);
    for ($i = 0; $i < COUNT; $i++) {
        $expected[$i] = $scenario($i);
    }
    $alone = hrtime(true) - $begin;
    $begin = hrtime(true);
    for ($i = 0; $i < COUNT; $i++) {
        $all[$i] = spawn($scenario, $i);
    }
    [$results, $errors] = await_all($all);
    $together = hrtime(true) - $begin;
    foreach ($errors as $i => $error) {
        fail("$i: " . get_class($error) . ': ' . $error->getMessage() . ' in ' . $error->getFile() . ':' . $error->getLine());
    }
    foreach ($results as $i => $result) {
        $result === $expected[$i] || fail("coroutine $i got " . json_encode($result) . ', alone ' . json_encode($expected[$i]));
    }
    // Libraries compute too, and there may be one processor.
    $together < $alone * 3 / 4 || fail(sprintf('%.2f s together, %.2f s alone', $together / 1e9, $alone / 1e9));
}

/** Classes of a Debian package. */
function library(string $file): void {
    set_include_path('/usr/share/php');
    is_file("/usr/share/php/$file") || skip("there is no /usr/share/php/$file");
    error_reporting(E_ALL & ~E_DEPRECATED);
    require_once $file;
}

/** What a call throws, in short. */
function thrown(callable $call): string {
    try {
        return 'nothing: ' . json_encode($call());
    } catch (Throwable $e) {
        return get_class($e) . ' ' . $e->getCode();
    }
}

$guzzle = function (callable $client): void {
    need('curl');
    library('GuzzleHttp/autoload.php');
    $base = 'http://' . start('http');
    same(function (int $i) use ($client, $base) {
        $guzzle = $client($base);
        $get = fn(string $path, array $options = []) => (string) $guzzle->get($path, $options)->getBody();
        $promises = ['a' => $guzzle->getAsync("/echo/a$i"), 'b' => $guzzle->getAsync('/slow/20'), 'c' => $guzzle->getAsync('/chunked')];
        $jar = new GuzzleHttp\Cookie\CookieJar();
        return [
            $get("/echo/$i", ['headers' => ['X-Test' => "header $i"]]),
            (string) $guzzle->post('/echo', ['json' => ['number' => $i, 'long' => str_repeat('x', 3000)]])->getBody(),
            $get('/redirect/3'),
            thrown(fn() => $get('/status/404')), thrown(fn() => $get('/slow/500', ['timeout' => 0.05])),
            $get("/cookie/$i", ['cookies' => $jar]), $get('/cookie/0', ['cookies' => $jar]),
            array_map(fn($response) => (string) $response->getBody(), GuzzleHttp\Promise\Utils::unwrap($promises)),
            $get('/slow/100'),
        ];
    });
};

$symfony = function (string $class, bool $is_shared): void {
    need('curl');
    library('Symfony/Component/HttpClient/autoload.php');
    $base = 'http://' . start('http');
    $common = new $class();
    same(function (int $i) use ($class, $common, $is_shared, $base) {
        $client = $is_shared ? $common : new $class();
        $several = array_map(fn($path) => $client->request('GET', $base . $path), ["/echo/$i", '/slow/20', '/chunked']);
        $streamed = [];
        foreach ($client->stream($several) as $response => $chunk) {
            $key = array_search($response, $several, true);
            $streamed[$key] = ($streamed[$key] ?? '') . $chunk->getContent();
        }
        ksort($streamed);
        return [
            $client->request('POST', "$base/echo", ['body' => "body $i", 'headers' => ['X-Test' => "header $i"]])->toArray(),
            $client->request('GET', "$base/redirect/3")->getContent(),
            thrown(fn() => $client->request('GET', "$base/status/404")->getContent()),
            thrown(fn() => $client->request('GET', "$base/slow/500", ['timeout' => 0.05])->getContent()),
            $client->request('GET', "$base/status/500")->getStatusCode(),
            $streamed,
            $client->request('GET', "$base/slow/100")->getContent(),
        ];
    });
};

$doctrine = function (array $parameters, string $sleep, ?callable $prepare = null): void {
    library('Doctrine/DBAL/autoload.php');
    same(function (int $i) use ($parameters, $sleep, $prepare) {
        $db = Doctrine\DBAL\DriverManager::getConnection($parameters);
        $prepare && $prepare($db->getNativeConnection());
        $db->executeStatement('create temporary table things (id int primary key, name varchar(50))');
        foreach ([1, 2, 3] as $id) {
            $db->insert('things', ['id' => $id, 'name' => "thing $i.$id"]);
        }
        $failed = thrown(fn() => $db->transactional(function ($db) {
            $db->delete('things', ['id' => 1]);
            throw new LogicException('back', 7);
        }));
        $db->transactional(fn($db) => $db->update('things', ['name' => "changed $i"], ['id' => 2]));
        $builder = $db->createQueryBuilder()->select('t.id', 't.name')->from('things', 't')->where('t.id > :id')->orderBy('t.id', 'desc');
        $result = [
            $failed, thrown(fn() => $db->insert('things', ['id' => 1, 'name' => 'twice'])), thrown(fn() => $db->executeQuery('select nonsense from nothing')),
            $builder->setParameter('id', 1)->executeQuery()->fetchAllAssociative(),
            $db->fetchAllKeyValue('select id, name from things order by id'),
            iterator_to_array($db->iterateColumn('select name from things where id in (?) order by id', [[1, 3]], [Doctrine\DBAL\Connection::PARAM_INT_ARRAY])),
            $db->fetchOne($sleep),
        ];
        $db->close();
        return $result;
    });
};

/** What became of each test of a class, and what it printed. */
function run_tests(string $class, bool $at_once): array {
    $flatten = function (iterable $suite) use (&$flatten): array {
        $all = [];
        foreach ($suite as $test) {
            $all = [...$all, ...($test instanceof PHPUnit\Framework\TestSuite ? $flatten($test) : [$test])];
        }
        return $all;
    };
    // PHPUnit remembers in a result how the last test ended, and counts assertions in a static property: so each has a result of its own, and
    // assertions are not compared.
    $run = function ($test): array {
        $result = new PHPUnit\Framework\TestResult();
        $test->run($result);
        return [$test->getName(), $test->getStatus(), $test->getStatusMessage(), $test->getActualOutput(), $result->count(), $result->failureCount(),
            $result->errorCount(), $result->warningCount(), $result->skippedCount(), $result->notImplementedCount(), array_keys($result->passed())];
    };
    $tests = $flatten((new PHPUnit\Framework\TestSuite($class))->tests());
    if (!$at_once) {
        return array_map($run, $tests);
    }
    [$ends, $errors] = await_all(array_map(fn($test) => spawn($run, $test), $tests));
    $errors === [] || fail(get_class(current($errors)) . ': ' . current($errors)->getMessage());
    return $ends;
}

return [
    'PHPUnit' => function () {
        library('PHPUnit/Autoload.php');
        require __DIR__ . '/phpunit/SampleTest.php';
        (new PHPUnit\Util\ErrorHandler(true, true, true, true))->register();  // there is one for all coroutines, so it is set once
        $begin = hrtime(true);
        $expected = run_tests(SampleTest::class, false);
        $alone = hrtime(true) - $begin;
        $got = run_tests(SampleTest::class, true);
        $together = hrtime(true) - $begin - $alone;
        foreach ($expected as $i => $end) {
            $got[$i] === $end || fail('at once ' . json_encode($got[$i]) . ', alone ' . json_encode($end));
        }
        $failed = array_filter($expected, fn($end) => $end[5] + $end[6] > 0);
        count($expected) > 30 && count($failed) === 4 || fail('the tests are not what they were');
        $together < $alone / 2 || fail(sprintf('%.2f s together, %.2f s alone', $together / 1e9, $alone / 1e9));
    },
    'Guzzle' => fn() => $guzzle(fn($base) => new GuzzleHttp\Client(['base_uri' => $base])),
    'Guzzle, one client for all' => function () use ($guzzle) {
        $client = null;
        $guzzle(function ($base) use (&$client) { return $client ??= new GuzzleHttp\Client(['base_uri' => $base]); });
    },
    'Guzzle, PHP streams' => fn() => $guzzle(fn($base) => new GuzzleHttp\Client(['base_uri' => $base, 'handler' => GuzzleHttp\HandlerStack::create(new GuzzleHttp\Handler\StreamHandler())])),
    'Symfony HttpClient' => fn() => $symfony('Symfony\Component\HttpClient\CurlHttpClient', false),
    'Symfony HttpClient, one client for all' => fn() => $symfony('Symfony\Component\HttpClient\CurlHttpClient', true),
    'Symfony HttpClient, PHP streams' => fn() => $symfony('Symfony\Component\HttpClient\NativeHttpClient', false),
    'Predis' => function () {
        library('Predis/Autoloader.php');
        Predis\Autoloader::register();
        [$host, $port] = explode(':', server('REDIS'));
        same(function (int $i) use ($host, $port) {
            $redis = new Predis\Client(['host' => $host, 'port' => (int) $port]);
            $redis->del(["list$i", "hash$i", "count$i"]);
            $redis->set("text$i", $text = str_repeat("text $i ", 2000));
            $redis->hmset("hash$i", ['a' => 1, 'b' => $i]);
            return [
                $redis->get("text$i") === $text, $redis->hgetall("hash$i"), $redis->incrby("count$i", $i),
                $redis->rpush("list$i", ['x', 'y', $i]), $redis->lrange("list$i", 0, -1),
                $redis->pipeline(function ($pipe) use ($i) {
                    for ($k = 0; $k < 20; $k++) {
                        $pipe->incr("count$i");
                    }
                }),
                array_map('strval', $redis->transaction(fn($t) => $t->set("text$i", 'short')->get("text$i"))),
                thrown(fn() => $redis->incr("text$i")),
                $redis->blpop(["nothing$i"], '0.1'),
            ];
        });
    },
    'Doctrine DBAL, SQLite' => function () use ($doctrine) {
        need('pdo_sqlite');
        $pause = fn(PDO $db) => $db->sqliteCreateFunction('pause', function () { usleep(100_000); return 1; });
        $doctrine(['driver' => 'pdo_sqlite', 'memory' => true], 'select pause()', $pause);
    },
    'Doctrine DBAL, PostgreSQL' => function () use ($doctrine) {
        need('pdo_pgsql');
        preg_match('/host=(\S+) port=(\d+) user=(\S+)/', server('POSTGRES'), $found);
        $doctrine(['driver' => 'pdo_pgsql', 'host' => $found[1], 'port' => $found[2], 'user' => $found[3]], 'select pg_sleep(0.1)');
    },
    'Doctrine DBAL, MariaDB' => function () use ($doctrine) {
        need('pdo_mysql');
        [$host, $port] = explode(':', server('MARIADB'));
        $doctrine(['driver' => 'pdo_mysql', 'host' => $host, 'port' => $port, 'user' => 'root', 'dbname' => 'io'], 'select sleep(0.1)');
    },
    'Doctrine DBAL, mysqli' => function () use ($doctrine) {
        need('mysqli');
        [$host, $port] = explode(':', server('MARIADB'));
        $doctrine(['driver' => 'mysqli', 'host' => $host, 'port' => (int) $port, 'user' => 'root', 'dbname' => 'io'], 'select sleep(0.1)');
    },
];
