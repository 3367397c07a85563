--TEST--
Transparent I/O: functions of PHP whose state is one for all: INI files, sessions, var_dump(), highlighted code, several at once; reads by other names
--EXTENSIONS--
true_async
zlib
--FILE--
<?php
require __DIR__ . '/../xdebug/with_xdebug.inc';

use function Async\{spawn, await, await_all, suspend, delay};

function all(callable ...$tasks): array {
    [$results, $errors] = await_all(array_map(fn($task) => spawn($task), $tasks));
    foreach ($errors as $error) {
        echo get_class($error), ': ', $error->getMessage(), "\n";
    }
    return $results;
}

/** Each read waits. */
class Slow {
    public $context;
    private string $text = '';
    function stream_open($url) { $this->text = substr(strrchr($url, '/'), 1) . "=1\nlast=2\n"; return true; }
    function stream_read($size) { usleep(100); $part = substr($this->text, 0, 3); $this->text = substr($this->text, 3); return $part; }
    function stream_eof() { return $this->text === ''; }
    function stream_stat() { return []; }
    function stream_close() {}
    function stream_set_option() { return false; }
}
stream_wrapper_register('slow', Slow::class);
echo json_encode(all(fn() => parse_ini_file('slow://x/one'), fn() => parse_ini_file('slow://x/two'), fn() => parse_ini_string('three=3'))), "\n";

// Into a pipe that nobody reads yet.
function printed(string $code): string {
    $code = 'use function Async\{spawn, await_all, suspend}; ' . $code . ' fwrite(STDERR, "printing\n"); await_all([spawn($print), spawn($print)]);';
    $process = proc_open([PHP_BINARY, '-n', '-d', 'extension=' . true_async_so(), '-r', $code], [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    fgets($pipes[2]);
    delay(20);
    $text = stream_get_contents($pipes[1]);
    echo stream_get_contents($pipes[2]), proc_close($process), ' ';
    return $text;
}
$text = printed('$o = new stdClass; $o->list = array_map(fn($i) => str_repeat($i, 3000), range(1, 40)); $print = fn() => var_dump($o);');
var_dump(str_contains($text, 'RECURSION'), strlen($text) > 240000);
$text = printed('$code = "<?php\n" . str_repeat("strlen(\"abc\") + \'x\';\n", 3000); $print = fn() => highlight_string($code);');
var_dump(substr_count($text, 'strlen') === 6000);

[$to, $from] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$readers = [spawn(fn() => gzgets($to)), spawn(fn() => gzgets($to)), spawn(fn() => stream_socket_recvfrom($to, 4)), spawn(fn() => gzread($to, 5))];
for ($i = 0; $i < 5; $i++) suspend();
foreach (["one\n", "two\n", 'four', 'fives'] as $i => $text) {
    fwrite($from, $text);
    echo json_encode(await($readers[$i])), ' ';
}
?>
--EXPECT--
[{"one":"1","last":"2"},{"two":"1","last":"2"},{"three":"3"}]
0 bool(false)
bool(true)
0 bool(true)
"one\n" "two\n" "four" "fives"
