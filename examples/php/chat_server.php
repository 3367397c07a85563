<?php
// A chat server: what one says all others hear. Without arguments it is a demonstration: three clients of its own come, talk and go.
// Run it:  ./dev php examples/php/chat_server.php
// As a server:  ./dev php examples/php/chat_server.php 127.0.0.1:7000      then: nc 127.0.0.1 7000

use Async\Scope;
use function Async\{await, spawn};

/** The next line, or null when the other side has gone. */
function read_line($stream): ?string {
    $line = fgets($stream);  // suspends this coroutine only
    return $line === false ? null : rtrim($line, "\r\n");
}

final class Chat {
    /** @var array<string, resource> */
    private array $members = [];

    public function __construct(private Scope $scope) {}

    public function serve($listener): void {
        while (true) {
            if ($stream = @stream_socket_accept($listener, -1)) {  // -1: no time limit
                $this->scope->spawn($this->member(...), $stream);
            }
        }
    }

    private function member($stream): void {
        stream_set_timeout($stream, -1);
        $name = read_line($stream);
        if ($name === null) {
            return;
        }
        while (isset($this->members[$name])) {
            $name .= '_';
        }
        $this->members[$name] = $stream;
        try {
            $this->tell("* $name joins");
            while (($line = read_line($stream)) !== null) {
                $this->tell("$name: $line", $name);
            }
        } finally {
            unset($this->members[$name]);
            fclose($stream);
            $this->tell("* $name leaves");
        }
    }

    private function tell(string $text, ?string $from = null): void {
        foreach ($this->members as $name => $stream) {
            if ($name !== $from && is_resource($stream)) {  // somebody may have left while we wrote to another
                @fwrite($stream, "$text\n");
            }
        }
    }
}

$address = $argv[1] ?? null;
$listener = stream_socket_server('tcp://' . ($address ?? '127.0.0.1:0'), $code, $message) or exit("$message\n");
$scope = new Scope();
$server = $scope->spawn((new Chat($scope))->serve(...), $listener);

if ($address !== null) {
    echo "listening on $address\n";
    await($server);
}

// --- the demonstration

/** A client that writes down what it hears. */
final class Client {
    public array $heard = [];
    private $stream;

    public function __construct(private string $name, string $address) {
        $this->stream = stream_socket_client("tcp://$address");
        $this->say($name);
        $this->hear("* $name joins");
    }
    public function say(string $text): void {
        fwrite($this->stream, "$text\n");
    }
    /** Waits until it has heard that. */
    public function hear(string $text): void {
        do {
            $line = read_line($this->stream);
            $this->heard[] = $line;
        } while ($line !== null && $line !== $text);
    }
    public function leave(): void {
        fclose($this->stream);
    }
    public function __toString(): string {
        return "$this->name heard:\n  " . implode("\n  ", $this->heard) . "\n";
    }
}

$at = stream_socket_get_name($listener, false);
$ann = await(spawn(fn() => new Client('Ann', $at)));
$bob = await(spawn(fn() => new Client('Bob', $at)));
$cid = await(spawn(fn() => new Client('Cid', $at)));
$ann->hear('* Cid joins');
$ann->say('good morning');
$bob->hear('Ann: good morning');
$cid->hear('Ann: good morning');
$bob->say('hello Ann');
$ann->hear('Bob: hello Ann');
$cid->hear('Bob: hello Ann');
$cid->leave();
$ann->hear('* Cid leaves');
$bob->hear('* Cid leaves');
echo $ann, $bob, $cid;

$scope->cancel();
$scope->awaitAfterCancellation();
echo "the server has stopped\n";
