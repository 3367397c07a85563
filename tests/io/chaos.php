<?php
// Random programs of blocking calls, of which some are cancelled at random. Nothing may be lost, left open or stuck.
//
// Usage: php chaos.php COUNT [SEED]    prints nothing when all is well; COUNT may be a time, such as 600s
use function Async\{spawn, await, suspend};

$count = (int) $argv[1];
$until = str_ends_with($argv[1], 's') ? microtime(true) + $count : 0;
mt_srand($seed = (int) ($argv[2] ?? random_int(0, 1 << 30)));
register_shutdown_function(function () use (&$is_over, $seed) { $is_over || print("did not come to its end; seed $seed"); });

function descriptors(): int { return count(scandir('/proc/self/fd')); }
/** Of which nobody knows any more. */
function children(): int {
    exec('true');  // when a process is started those that have ended are collected
    return str_word_count(file_get_contents('/proc/self/task/' . getmypid() . '/children'), characters: '0..9');
}
function pair(): array { return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); }

$file = tempnam(sys_get_temp_dir(), 'chaos');
$listener = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($listener, false);
gethostbyname('localhost');
await(spawn(fn() => null));  // the loop has some of its own
$before = descriptors();

$server = spawn(function () use ($listener) {  // echoes, sometimes late, sometimes not to the end
    while ($client = stream_socket_accept($listener, -1)) {
        spawn(function () use ($client) {
            while (($line = @fgets($client)) !== false && mt_rand(0, 50) > 0) {
                mt_rand(0, 9) || usleep(mt_rand(0, 3000));
                @fwrite($client, $line);
            }
            fclose($client);
        });
    }
});
$steps = [
    fn() => usleep(mt_rand(0, 5000)),
    function () use ($address) {
        if ($client = @stream_socket_client("tcp://$address")) {
            for ($i = mt_rand(1, 5); $i > 0; $i--) {
                @fwrite($client, str_repeat('y', mt_rand(1, 30000)) . "\n");
                @fgets($client);
            }
        }
    },
    fn() => gethostbyname('localhost'),
    fn() => exec('true'),
    fn() => proc_close(proc_open('sleep 0.00' . mt_rand(1, 9), [], $pipes)),
    function () {  // when it is cancelled here nobody closes the process
        $process = proc_open('sleep 0.00' . mt_rand(1, 9), [1 => ['pipe', 'w']], $pipes);
        stream_get_contents($pipes[1]);
        proc_close($process);
    },
    function () use ($file) {
        $handle = fopen($file, 'c+');
        flock($handle, LOCK_EX);
        usleep(mt_rand(0, 300));
        fwrite($handle, 'x');
        flock($handle, LOCK_UN);
    },
    function () {
        [$a, $b] = pair();
        spawn(function () use ($b) {
            usleep(mt_rand(0, 2000));
            @fwrite($b, 'x');
        });
        $readable = [$a];
        $none = null;
        stream_select($readable, $none, $none, 0, 1500);
    },
    function () {  // closed under the reader
        [$a, $b] = pair();
        $reader = spawn(fn() => @fgets($a));
        suspend();
        fclose($a);
        await($reader);
    },
    function () use ($file) {
        file_get_contents($file);
        file_put_contents($file, 'abc', FILE_APPEND);
    },
    function () {
        $pipe = popen('true', 'r');
        fgets($pipe);
        pclose($pipe);
    },
];
$running = [];
$ends = ['done' => 0, 'cancelled' => 0];
$finish = function ($coroutine) use (&$ends) {
    try {
        await($coroutine);
        $ends['done']++;
    } catch (Async\AsyncCancellation) {
        $ends['cancelled']++;
    }
};
for ($i = 0; $until ? microtime(true) < $until : $i < $count; $i++) {
    $i !== 2000 || $memory = memory_get_usage();
    $running[] = spawn(function () use ($steps) {
        for ($k = mt_rand(1, 3); $k > 0; $k--) {
            $steps[array_rand($steps)]();
        }
    });
    mt_rand(0, 2) || $running[array_rand($running)]->cancel();
    mt_rand(0, 3) || suspend();
    if (count($running) > 60) {
        $finish(array_shift($running));
    }
}
$count = $i;
array_map($finish, $running);
$server->cancel();
$finish($server);
$running = $server = null;
for ($i = 0; $i < 100 && (descriptors() > $before || children() > 0); $i++) {
    usleep(10_000);  // children of others end
}
unlink($file);
$is_over = true;
children() === 0 || print(children() . " children were not collected; seed $seed");
descriptors() <= $before || print(descriptors() - $before . " descriptors were left open; seed $seed");
memory_get_usage() - ($memory ?? 1e9) < 1_000_000 || print('memory grows: ' . (memory_get_usage() - $memory) . " bytes; seed $seed");
array_sum($ends) === $count + 1 || print('lost: ' . json_encode($ends) . "; seed $seed");
