--TEST--
Transparent I/O: one coroutine at a time is inside functions of imap, and logs in with its own name
--EXTENSIONS--
true_async
imap
--FILE--
<?php
use function Async\{await_all, spawn, suspend};

$server = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($server, false);
$connections = 0;
$serve = function ($connection, int $number) {
    for ($i = 0; $i < 20; $i++) {  // the other has its turn before anybody logs in
        suspend();
    }
    fwrite($connection, "* OK [CAPABILITY IMAP4rev1] hello\r\n");
    while (($line = fgets($connection)) !== false) {
        [$tag, $command, $rest] = explode(' ', rtrim($line), 3) + [2 => ''];
        if ($command === 'LOGIN' || $command === 'LOGOUT') {
            echo rtrim("$number: $command $rest"), "\n";
        }
        for ($i = 0; $i < 20; $i++) {
            suspend();
        }
        fwrite($connection, match ($command) {
            'CAPABILITY' => "* CAPABILITY IMAP4rev1\r\n",
            'SELECT', 'EXAMINE' => "* {$number}0 EXISTS\r\n* 0 RECENT\r\n* FLAGS ()\r\n* OK [UIDVALIDITY 1] x\r\n",
            'LOGOUT' => "* BYE\r\n",
            default => '',
        } . "$tag OK done\r\n");
    }
};
$all = spawn(function () use ($server, $serve) {
    for ($number = 1; $number <= 3; $number++) {
        spawn($serve, stream_socket_accept($server), $number);
    }
});
$open = function (string $user, string $password) use ($address) {
    $mailbox = imap_open("{{$address}/imap/notls/norsh}INBOX", $user, $password, 0, 1);
    return $mailbox === false ? imap_last_error() : $mailbox;
};
[$mailboxes] = await_all([spawn($open, 'alice', 'a'), spawn($open, 'bob', 'b')]);
echo implode(' ', array_map(imap_num_msg(...), $mailboxes)), "\n";

// Several on one connection; who is cancelled while he waits for his turn disturbs nobody.
$pings = array_map(fn() => spawn(imap_ping(...), $mailboxes[0]), range(1, 4));
suspend();
$pings[2]->cancel();
[$answers, $errors] = await_all($pings);
echo json_encode($answers), ' ', implode(', ', array_map(fn($error) => $error::class, $errors)), "\n";

// One takes leave while another is being opened.
$carol = spawn($open, 'carol', 'c');
suspend();
array_pop($mailboxes);
echo "freed\n";
$mailboxes[] = Async\await($carol);
unset($carol);
echo imap_num_msg($mailboxes[1]), "\n";
array_map(imap_close(...), $mailboxes);
?>
--EXPECT--
1: LOGIN alice a
2: LOGIN bob b
10 20
{"0":true,"1":true,"3":true} Async\AsyncCancellation
3: LOGIN carol c
2: LOGOUT
freed
30
1: LOGOUT
3: LOGOUT
