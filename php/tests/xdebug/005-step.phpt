--TEST--
Step debugging over DBGp: a breakpoint in coroutines, the stack and the variables of each, stepping, evaluation
--SKIPIF--
<?php
require __DIR__ . "/with_xdebug.inc";
if (!has_xdebug()) die("skip there is no Xdebug");
?>
--FILE--
<?php
require __DIR__ . '/with_xdebug.inc';

/** The IDE's side of one connection. */
final class Debugger {
    private int $transaction = 0;

    public function __construct(private $connection) {
        stream_set_timeout($connection, 8);
        $this->read();  // the engine's greeting
    }

    private function read(): string {
        $length = stream_get_line($this->connection, 20, "\0");
        if (!is_numeric($length)) {
            die("Xdebug has gone\n");
        }
        return rtrim(stream_get_contents($this->connection, $length + 1), "\0");
    }

    public function send(string $command, string $arguments = '', ?string $data = null): string {
        $line = rtrim("$command -i " . ++$this->transaction . " $arguments");
        fwrite($this->connection, $line . ($data === null ? '' : ' -- ' . base64_encode($data)) . "\0");
        return $this->read();
    }

    /** Where it stands: its functions from the inside out, with their lines. */
    public function stack(): string {
        $frames = [];
        foreach (elements($this->send('stack_get'), 'stack') as $frame) {
            $frames[] = preg_replace('~\{fiber:\w+\}~', '{fiber}', $frame['where']) . ':' . $frame['lineno'];
        }
        return implode(' < ', $frames);
    }

    public function variables(): string {
        $values = [];
        foreach (elements($this->send('context_get'), 'property') as $property) {
            $values[] = $property['name'] . ' = ' . ($property['type'] === 'uninitialized' ? '?' : $property['text']);
        }
        return implode(', ', $values);
    }
}

/** The elements of that name, each as its attributes and its text: PHP may have been built without XML. */
function elements(string $answer, string $name): array {
    preg_match_all("~<$name\\b([^>]*?)(?:/>|>(?:<!\[CDATA\[(.*?)\]\]>)?)~s", $answer, $found, PREG_SET_ORDER);
    return array_map(function (array $one): array {
        preg_match_all('~([\w:]+)="([^"]*)"~', $one[1], $attributes);
        return ['text' => $one[2] ?? ''] + array_combine($attributes[1], $attributes[2]);
    }, $found);
}

function first(string $answer, string $name): array {
    return elements($answer, $name)[0] ?? die("no $name in $answer\n");
}

$server = stream_socket_server('tcp://127.0.0.1:0');
$port = explode(':', stream_socket_get_name($server, false))[1];
$command = with_xdebug('debug', __DIR__ . '/jobs.inc', ['xdebug.client_host' => '127.0.0.1', 'xdebug.client_port' => $port]);
$process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
$debugger = new Debugger(stream_socket_accept($server, 8));

$file = 'file://' . __DIR__ . '/jobs.inc';
$id = first($debugger->send('breakpoint_set', "-t line -f $file -n 7"), 'response')['id'];
for ($hit = 0; $hit < 3; $hit++) {
    $status = $debugger->send('run');
    echo first($status, 'response')['status'], ' at ', first($status, 'xdebug:message')['lineno'], "\n";
    echo '  ', $debugger->stack(), "\n";
    echo '  ', $debugger->variables(), "\n";
    echo '  $n of the caller: ', first($debugger->send('property_get', '-d 1 -n $n'), 'property')['text'], "\n";
    echo '  evaluated: ', first($debugger->send('eval', '', '$n + $double'), 'property')['text'], "\n";
}
// Stepping out of the function stays in the coroutine; over a suspension Xdebug before 3.4 stops at whoever comes to that depth first.
$debugger->send('breakpoint_remove', "-d $id");
$debugger->send('step_out');
echo 'out: ', $debugger->stack(), "; ", $debugger->variables(), "\n";
$debugger->send('step_over');
echo 'over: ', $debugger->stack(), '; ', $debugger->variables(), "\n";
$debugger->send('breakpoint_set', "-t call -m inner");
echo first($debugger->send('run'), 'response')['status'], ': ', $debugger->stack(), "\n";
$debugger->send('breakpoint_set', "-t line -f $file -n 24");
do {
    $debugger->send('run');
    $stack = $debugger->stack();
} while (str_contains($stack, 'inner'));
echo $stack, ' ', first($debugger->send('property_get', '-n $sum'), 'property')['text'], "\n";
do {  // `echo` with two values is two statements
    $status = first($debugger->send('run'), 'response')['status'];
} while ($status === 'break');
echo $status, "\n";
echo first($debugger->send('stop'), 'response')['status'], "\n";
unset($debugger);  // Xdebug would wait for more
echo stream_get_contents($pipes[1]);
proc_close($process);
?>
--EXPECTF--
break at 7
  inner:7 < job:11 < {fiber}:0
  $double = 2, $n = 1
  $n of the caller: 1
  evaluated: 3
break at 7
  inner:7 < job:11 < {fiber}:0
  $double = 4, $n = 2
  $n of the caller: 2
  evaluated: 6
break at 7
  inner:7 < job:11 < {fiber}:0
  $double = 6, $n = 3
  $n of the caller: 3
  evaluated: 9
out: job:12 < {fiber}:0; $first = 6, $n = 3
over: job:13 < {fiber}:0; $first = %d, $n = %d
break: inner:5 < job:16 < {fiber}:0
{main}:24 24
stopping
stopped
24
