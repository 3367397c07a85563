<?php
// Makes requests one after another, looks at the answers, and at the memory of the process that serves them.
//
// Usage: php requests.php NAME http|fastcgi ADDRESS COUNT

[, $name, $protocol, $address, $count] = $argv;
const KINDS = [
    'plain' => '~^plain$~',
    'await' => '~^sum 20$~',
    'not-awaited' => '~^after main$~',
    'uncaught' => '~Fatal error: Uncaught LogicException: of a coroutine~',
    'exit' => '~^left, shutdown$~',
    'deadlock' => '~Uncaught Async\\\\DeadlockError~',
    'fatal' => '~Fatal error: of a coroutine(?!.*never)~s',
    'memory' => '~Allowed memory size of \d+ bytes exhausted(?!.*never)~s',
    'cycle' => '~^cycle$~',
    'fiber' => '~^12$~',
];
const LIMIT = 2048;  // KiB; `php -S` alone takes 60 bytes a request

function connect(string $address) {
    for ($began = hrtime(true); hrtime(true) - $began < 5e9; usleep(20000)) {
        if ($connection = @stream_socket_client($address, $code, $text, 5)) {
            stream_set_timeout($connection, 9);
            return $connection;
        }
    }
    die("not ok connect: $text\n");
}

function ask_http(string $address, string $query): string {
    $connection = connect($address);
    fwrite($connection, "GET /serve.php?$query HTTP/1.0\r\n\r\n");
    return explode("\r\n\r\n", stream_get_contents($connection), 2)[1] ?? '';
}

function record(int $type, string $content): string {
    return pack('CCnnCC', 1, $type, 1, strlen($content), 0, 0) . $content;
}

function ask_fastcgi(string $address, string $query): string {
    static $connection = null;
    $connection ??= connect($address);
    $parameters = ['SCRIPT_FILENAME' => __DIR__ . '/serve.php', 'SCRIPT_NAME' => '/serve.php', 'REQUEST_METHOD' => 'GET', 'QUERY_STRING' => $query];
    $text = '';
    foreach ($parameters as $name => $value) {
        $text .= pack('CC', strlen($name), strlen($value)) . $name . $value;
    }
    // Begin, as a responder that keeps the connection; parameters; no input.
    fwrite($connection, record(1, pack('nCx5', 1, 1)) . record(4, $text) . record(4, '') . record(5, ''));
    for ($output = '';;) {
        $head = stream_get_contents($connection, 8);
        if (strlen($head) < 8) {
            $connection = null;
            return "connection lost after: $output";
        }
        ['type' => $type, 'size' => $size, 'padding' => $padding] = unpack('Cversion/Ctype/nid/nsize/Cpadding', $head);
        $content = $size + $padding > 0 ? substr(stream_get_contents($connection, $size + $padding), 0, $size) : '';
        if ($type === 3) {
            return explode("\r\n\r\n", $output, 2)[1] ?? '';
        }
        $output .= $type === 6 ? $content : '';
    }
}

function resident(int $pid): int {
    preg_match('~^VmRSS:\s*(\d+)~m', (string) @file_get_contents("/proc/$pid/status"), $found);
    return (int) ($found[1] ?? 0);
}

$ask = "ask_$protocol";
$pid = (int) $ask($address, 'pid');
$wrong = 0;
$first = 0;
$at = intdiv($count, 10);
for ($i = 1; $i <= $count; $i++) {
    $kind = array_keys(KINDS)[$i % count(KINDS)];
    $answer = $ask($address, $kind);
    if (!preg_match(KINDS[$kind], $answer) && ++$wrong <= 5) {
        echo "  request $i, $kind: ", $answer === '' ? 'nothing' : $answer, "\n";
    }
    if ($i === $at) {
        $first = resident($pid);
    }
}
$last = resident($pid);
echo $wrong === 0 ? 'ok' : 'not ok', " $name-answers: $count requests, $wrong wrong\n";
echo $pid === (int) $ask($address, 'pid') ? 'ok' : 'not ok', " $name-process: the same from the first to the last\n";
$is_flat = $first > 0 && $last > 0 && abs($last - $first) <= LIMIT;
echo $is_flat ? 'ok' : 'not ok', " $name-memory: $first KiB after $at requests, $last KiB after $count\n";
