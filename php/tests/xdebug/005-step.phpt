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

    private function read(): SimpleXMLElement {
        $length = stream_get_line($this->connection, 20, "\0");
        if (!ctype_digit((string) $length)) {
            die("Xdebug has gone\n");
        }
        $text = stream_get_contents($this->connection, $length + 1);
        return new SimpleXMLElement(str_replace('xdebug:message', 'message', rtrim($text, "\0")));
    }

    public function send(string $command, string $arguments = '', ?string $data = null): SimpleXMLElement {
        fwrite($this->connection, "$command -i " . ++$this->transaction . " $arguments" . ($data === null ? '' : ' -- ' . base64_encode($data)) . "\0");
        return $this->read();
    }

    /** Where it stands: its functions from the inside out, with their lines. */
    public function stack(): string {
        $frames = [];
        foreach ($this->send('stack_get')->stack as $frame) {
            $frames[] = preg_replace('~\{fiber:\w+\}~', '{fiber}', $frame['where']) . ':' . $frame['lineno'];
        }
        return implode(' < ', $frames);
    }

    public function variables(): string {
        $values = [];
        foreach ($this->send('context_get')->property as $property) {
            $values[] = $property['name'] . ' = ' . ((string) $property['type'] === 'uninitialized' ? '?' : $property);
        }
        return implode(', ', $values);
    }
}

$server = stream_socket_server('tcp://127.0.0.1:0');
$port = explode(':', stream_socket_get_name($server, false))[1];
$command = with_xdebug('debug', __DIR__ . '/jobs.inc', ['xdebug.client_host' => '127.0.0.1', 'xdebug.client_port' => $port]);
$process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
$debugger = new Debugger(stream_socket_accept($server, 8));

$file = 'file://' . __DIR__ . '/jobs.inc';
$id = $debugger->send('breakpoint_set', "-t line -f $file -n 7")['id'];
for ($hit = 0; $hit < 3; $hit++) {
    $status = $debugger->send('run');
    echo $status['status'], ' at ', $status->message['lineno'], "\n";
    echo '  ', $debugger->stack(), "\n";
    echo '  ', $debugger->variables(), "\n";
    echo '  $n of the caller: ', $debugger->send('property_get', '-d 1 -n $n')->property, "\n";
    echo '  evaluated: ', $debugger->send('eval', '', '$n + $double')->property, "\n";
}
// A step goes to whoever runs next; out of the function it stays in the coroutine.
$debugger->send('breakpoint_remove', "-d $id");
$debugger->send('step_out');
echo 'out: ', $debugger->stack(), "; ", $debugger->variables(), "\n";
$debugger->send('step_over');
echo 'over: ', $debugger->stack(), "\n";
$debugger->send('breakpoint_set', "-t call -m inner");
echo $debugger->send('run')['status'], ': ', $debugger->stack(), "\n";
$debugger->send('breakpoint_set', "-t line -f $file -n 25");
do {
    $debugger->send('run');
    $stack = $debugger->stack();
} while (str_contains($stack, 'inner'));
echo $stack, ' ', $debugger->send('property_get', '-n $sum')->property, "\n";
echo $debugger->send('run')['status'], "\n";
echo $debugger->send('stop')['status'], "\n";
echo stream_get_contents($pipes[1]);
proc_close($process);
?>
--EXPECT--
