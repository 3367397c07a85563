<?php
// What goes wrong in networks, one case for each call: php faults.php CASE    prints nothing when all is well
//
// Without a case: their names. FAULTS_PHP is the command that runs PHP as this one is run, for servers that need a process of their own.
use function Async\{spawn, await, await_all, suspend};

const BUSY_PEERS = 10_000;

function check(bool $is_so, string $what): void { $is_so || print("$what\n"); }
function pair(): array { return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); }
function listener(): array {
    $listener = stream_socket_server('tcp://127.0.0.1:0', context: stream_context_create(['socket' => ['backlog' => 4096]]));
    return [$listener, 'tcp://' . stream_socket_get_name($listener, false)];
}

/** Starts `serve_$name` of this file in a process of its own; its first line is the address. */
function start_server(string $name): array {
    $process = proc_open(getenv('FAULTS_PHP') . ' ' . escapeshellarg(__FILE__) . " serve_$name", [1 => ['pipe', 'w']], $pipes);
    return [$process, trim(fgets($pipes[1])), $pipes[1]];
}

/** Answers each line after a while. */
function serve_slowly(): void {
    [$listener, $address] = listener();
    echo "$address\n";
    while ($client = stream_socket_accept($listener, 3600)) {
        spawn(function () use ($client) {
            while (($line = fgets($client)) !== false) {
                usleep(200_000);
                fwrite($client, "answer to $line");
            }
        });
    }
}

/** Takes requests and never answers. */
function serve_nobody(): void {
    [$listener, $address] = listener();
    echo "$address\n";
    $clients = [];
    while ($client = stream_socket_accept($listener, 3600)) {
        $clients[] = $client;
        fgets($client);
    }
}

$cases = [
    'no_descriptors_left' => function () {
        [$listener, $address] = listener();
        await(spawn(fn() => null));
        $all = [];
        while ($one = @fopen('/dev/null', 'r')) {
            $all[] = $one;
        }
        array_pop($all);  // one for whoever comes first
        $client = stream_socket_client($address);
        $results = await_all([
            'accept' => spawn(fn() => @stream_socket_accept($listener, 1)),
            'connect' => spawn(fn() => @stream_socket_client($address)),
            'http' => spawn(fn() => @file_get_contents(str_replace('tcp', 'http', $address))),
            'exec' => spawn(fn() => @exec('true')),
            'popen' => spawn(fn() => @popen('true', 'r')),
            'sleep' => spawn(fn() => usleep(1000)),
            'pair' => spawn(fn() => @stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0)),
        ])[0];
        $expected = ['accept' => false, 'connect' => false, 'http' => false, 'exec' => false, 'popen' => false, 'sleep' => null, 'pair' => false];
        check($results == $expected, 'with none left: ' . json_encode($results));
        $all = null;
        $accepted = await(spawn(fn() => stream_socket_accept($listener, 5)));
        check($accepted !== false, 'the one that waited was not accepted');
        $reader = spawn(fn() => fgets($accepted));
        fwrite($client, "hello\n");
        check(await($reader) === "hello\n", 'nothing works any more');
        check(await(spawn(fn() => exec('echo well'))) === 'well', 'no process any more');
    },
    'a_million_small_reads' => function () {
        $bytes = 1_000_000;
        [$a, $b] = pair();
        stream_set_read_buffer($a, 0);
        spawn(function () use ($b, $bytes) {
            for ($left = $bytes; $left > 0; $left -= $sent) {
                $sent = fwrite($b, str_repeat('abcdefgh', 1000), min(8000, $left));
            }
            fclose($b);
        });
        $reader = spawn(function () use ($a) {
            $memory = 0;
            for ($i = 0; ($byte = fread($a, 1)) !== ''; $i++) {
                if ($byte !== chr(97 + $i % 8)) {
                    return "byte $i is wrong";
                }
                if ($i === 1000) {
                    $memory = memory_get_usage();
                }
            }
            return memory_get_usage() - $memory > 100_000 ? 'memory grows' : $i;
        });
        check(($got = await($reader)) === $bytes, "read: $got");
    },
    'ten_thousand_on_one_slow_server' => function () {
        [$server, $address] = start_server('slowly');
        $ask = function (int $number) use ($address): string {
            $client = stream_socket_client($address, timeout: 60);
            fwrite($client, "question $number\n");
            return fgets($client);
        };
        $coroutines = [];
        for ($i = 0; $i < BUSY_PEERS; $i++) {
            $coroutines[] = spawn($ask, $i);
        }
        [$results, $errors] = await_all($coroutines);
        $right = 0;
        foreach ($results as $i => $answer) {
            $right += $answer === "answer to question $i\n" ? 1 : 0;
        }
        check($right === BUSY_PEERS, "$right of " . BUSY_PEERS . ' were answered');
        proc_terminate($server, SIGKILL);
    },
    'resets' => function () {
        [$listener, $address] = listener();
        $server = spawn(function () use ($listener) {
            while ($client = @stream_socket_accept($listener, 5)) {
                stream_select_readable($client);
                fclose($client);  // with something unread: a reset
            }
        });
        $ends = await_all(array_map(fn(int $i) => spawn(function () use ($address, $i) {
            $client = stream_socket_client($address);
            if ($i % 2 === 0) {
                fwrite($client, "request\n");
                return fgets($client);
            }
            for ($sent = 0; $sent < 1 << 26; $sent += $count) {  // parked on a full buffer when the reset comes
                if (($count = @fwrite($client, str_repeat('x', 1 << 16))) === false) {
                    return false;
                }
            }
            return $sent;
        }), range(1, 200)))[0];
        check(array_filter($ends, fn($end) => $end !== false) === [], 'a reset was not seen');
        $server->cancel();
    },
    'half_closed_peers' => function () {
        [$listener, $address] = listener();
        $server = spawn(function () use ($listener) {
            $client = stream_socket_accept($listener, 5);
            stream_socket_shutdown($client, STREAM_SHUT_WR);  // says no more, but listens
            return strlen(stream_get_contents($client));
        });
        $client = stream_socket_client($address);
        check(fread($client, 10) === '' && feof($client), 'the end was not seen');
        for ($i = 0; $i < 64; $i++) {
            fwrite($client, str_repeat('x', 1 << 16));
        }
        fclose($client);
        check(($got = await($server)) === 1 << 22, "after the end only $got bytes went the other way");
    },
    'silent_peers' => function () {
        [$server, $address] = start_server('nobody');
        $began = microtime(true);
        $ends = await_all(array_map(fn(int $i) => spawn(function () use ($address, $i) {
            $client = stream_socket_client($address);
            stream_set_timeout($client, 0, 300_000);
            fwrite($client, "question\n");
            return [fgets($client), stream_get_meta_data($client)['timed_out']];
        }), range(1, 50)))[0];
        check(array_unique($ends, SORT_REGULAR) === [[false, true]], 'a time-out was not told');
        check(microtime(true) - $began < 5, 'they waited for each other');
        proc_terminate($server, SIGKILL);
    },
    'a_server_killed_in_mid_request' => function () {
        [$server, $address] = start_server('nobody');
        $waiting = new ArrayObject();
        $clients = array_map(fn(int $i) => spawn(function () use ($address, $waiting) {
            $client = stream_socket_client($address);
            fwrite($client, 'half a ques');
            $waiting[] = 1;
            return fgets($client);
        }), range(1, 50));
        while (count($waiting) < 50) {
            usleep(1000);
        }
        proc_terminate($server, SIGKILL);
        check(array_unique(await_all($clients)[0]) === [false], 'somebody did not notice');
        check(proc_close($server) !== 0, 'it was not killed');
    },
];

function stream_select_readable($stream): void {
    $readable = [$stream];
    $none = null;
    stream_select($readable, $none, $none, 5);
}

if (!isset($argv[1])) {
    echo implode("\n", array_keys($cases)), "\n";
} elseif (str_starts_with($argv[1], 'serve_')) {
    $argv[1]();
} else {
    await(spawn($cases[$argv[1]]));
}
