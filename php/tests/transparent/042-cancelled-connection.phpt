--TEST--
Transparent I/O: the answer to a question that was cancelled is nobody's
--EXTENSIONS--
ftp
true_async
--FILE--
<?php
use function Async\{spawn, await};

$server = stream_socket_server('tcp://127.0.0.1:0');
[$host, $port] = explode(':', stream_socket_get_name($server, false));
/** Answers SIZE n with n, and RETR with nothing on the data connection, but each only when it is told to. */
$serve = function () use ($server, &$asked, &$answer) {
    $client = stream_socket_accept($server, 5);
    fwrite($client, "220 hello\r\n");
    $data = stream_socket_server('tcp://127.0.0.1:0');
    while (($line = fgets($client)) !== false) {
        [$what, $argument] = explode(' ', trim($line)) + ['', ''];
        if ($what === 'SIZE') {
            if ($argument > 100) {
                $asked->complete(null);
                await($answer);
            }
            @fwrite($client, "213 $argument\r\n");
        } elseif ($what === 'PASV') {
            $at = (int) substr(strrchr(stream_socket_get_name($data, false), ':'), 1);
            fwrite($client, sprintf("227 here (127,0,0,1,%d,%d)\r\n", $at >> 8, $at & 255));
        } elseif ($what === 'RETR') {
            $open = stream_socket_accept($data, 5);
            fwrite($client, "150 it comes\r\n");
            $asked->complete(null);
            await($answer);
            @fwrite($open, 'secret');
            @fwrite($client, "226 it came\r\n");
        } else {
            fwrite($client, ['TYPE' => '200', 'USER' => '331', 'PASS' => '230'][$what] . " fine\r\n");
        }
    }
    echo "the server sees the end\n";
};
$questions = [
    'ftp_size' => fn($ftp) => ftp_size($ftp, '111'),
    'ftp_fget, on its data connection' => fn($ftp) => ftp_fget($ftp, tmpfile(), 'file'),
];
foreach ($questions as $name => $question) {
    $asked = new Async\FutureState();
    $answer = new Async\FutureState();
    [$told, $answer_state] = [new Async\Future($asked), $answer];
    $answer = new Async\Future($answer_state);
    $serving = spawn($serve);
    $ftp = ftp_connect($host, (int) $port, 5);
    ftp_login($ftp, 'a', 'b');
    ftp_pasv($ftp, true);
    echo "$name\nbefore: ", ftp_size($ftp, '5'), "\n";
    $question = spawn(fn() => $question($ftp));
    $told->await();
    $question->cancel();
    try {
        await($question);
    } catch (Async\AsyncCancellation) {
        echo "cancelled\n";
    }
    $answer_state->complete(null);
    foreach ([22, 33] as $size) {
        echo "asked for $size, got ", @ftp_size($ftp, (string) $size), "\n";
    }
    await($serving);
    unset($ftp);
}
?>
--EXPECT--
ftp_size
before: 5
cancelled
asked for 22, got -1
asked for 33, got -1
the server sees the end
ftp_fget, on its data connection
before: 5
cancelled
asked for 22, got -1
asked for 33, got -1
the server sees the end
