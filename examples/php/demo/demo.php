<?php
// The same work twice, with the same ordinary PHP functions: one after another, then as coroutines.
// Run it: ./dev demo, or ./dev php examples/php/demo/demo.php [--short]

require __DIR__ . '/display.php';

use function Async\await_all;
use function Async\delay;
use function Async\spawn;

$isShort = in_array('--short', $argv, true);
[$pages, $queries, $processes, $names] = $isShort ? [10, 4, 2, 3] : [100, 20, 10, 10];
[$pageTime, $queryTime, $processTime] = $isShort ? [0.02, 0.02, 0.05] : [0.05, 0.1, 0.2];

// --- what there is to do: nothing in it knows of coroutines

$server = proc_open([PHP_BINARY, '-n', __DIR__ . '/server.php', $pageTime], [['pipe', 'r'], ['pipe', 'w']], $pipes);
$port = trim(fgets($pipes[1]));

function page(int $number): string {
    global $port;
    return file_get_contents("http://localhost:$port/page-$number");
}

function sqlite_query(int $number): string {
    global $queryTime;
    $connection = new PDO('sqlite::memory:');
    // SQLite itself is fast; this makes its query wait, deep inside the library.
    $connection->sqliteCreateFunction('think', function (int $about) use ($queryTime): int {
        usleep((int) ($queryTime * 1e6));
        return $about * $about;
    });
    return $connection->query("SELECT think($number)")->fetchColumn();
}

function postgres_query(int $number): string {
    global $queryTime;
    return postgres()->query("SELECT $number * $number FROM pg_sleep($queryTime)")->fetchColumn();
}

/** A server on this machine that lets us in. */
function postgres(): PDO {
    return new PDO('pgsql:connect_timeout=1' . (getenv('PGHOST') ? '' : ';host=/var/run/postgresql'));
}

function has_postgres(): bool {
    try {
        return in_array('pgsql', PDO::getAvailableDrivers()) && postgres()->query('SELECT 1') !== false;
    } catch (PDOException) {
        return false;
    }
}

function process(int $number): string {
    global $processTime;
    return trim(shell_exec("sleep $processTime; echo process $number"));
}

function name(int $number): string {
    return gethostbyname(['localhost', gethostname()][$number % 2]);
}

$kinds = ['pages' => [$pages, page(...)]];
if (extension_loaded('pdo_sqlite') || extension_loaded('pdo_pgsql')) {
    $kinds['queries'] = [$queries, has_postgres() ? postgres_query(...) : sqlite_query(...)];
}
$kinds += ['processes' => [$processes, process(...)], 'names' => [$names, name(...)]];

// --- one after another

$display = new Display('one after another', $kinds);
$expected = [];
foreach ($kinds as $kind => [$count, $work]) {
    for ($i = 0; $i < $count; ++$i) {
        $item = $display->begin($kind);
        $expected[$kind][$i] = $work($i);
        $display->end($item);
        $display->draw();
    }
}
$alone = $display->finish();

// --- as coroutines: a spawn around each call

$display = new Display('as coroutines', $kinds);
$coroutines = [];
foreach ($kinds as $kind => [$count, $work]) {
    for ($i = 0; $i < $count; ++$i) {
        $coroutines["$kind $i"] = spawn(function () use ($display, $kind, $work, $i): string {
            $item = $display->begin($kind);
            $result = $work($i);
            $display->end($item);
            return $result;
        });
    }
}
$painter = spawn(function () use ($display): void {
    for (;;) {
        $display->draw();
        delay(40);
    }
});
[$results] = await_all($coroutines);
$painter->cancel();
$together = $display->finish();

// --- what came of it

proc_terminate($server);
$areSame = true;
foreach ($expected as $kind => $values) {
    foreach ($values as $i => $value) {
        $areSame = $areSame && $results["$kind $i"] === $value;
    }
}
print_timeline([$alone, $together]);
printf("one after another:  %5.2f s\n", $alone->seconds);
printf("as coroutines:      %5.2f s\n", $together->seconds);
printf("%.0f times as fast, with %s results\n", $alone->seconds / $together->seconds, $areSame ? 'the same' : 'DIFFERENT');
exit($areSame ? 0 : 1);
