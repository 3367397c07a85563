<?php
// A broker that speaks just enough AMQP 0-9-1 to hand out messages, and does so only when all have asked.
//
// Usage: php amqp.php COUNT [DELAY]    Prints the address it listens on. The messages come DELAY seconds later.
$count = (int) $argv[1];
$delay = (float) ($argv[2] ?? 0);
$server = stream_socket_server('tcp://127.0.0.1:0') or exit(1);
echo stream_socket_get_name($server, false), "\n";

$frame = fn(int $type, int $channel, string $payload): string => pack('CnN', $type, $channel, strlen($payload)) . "$payload\xCE";
$method = fn(int $channel, int $class, int $number, string $arguments = ''): string
    => $frame(1, $channel, pack('nn', $class, $number) . $arguments);
$long = fn(string $text): string => pack('N', strlen($text)) . $text;
$body = fn(int $channel): string => $frame(2, $channel, pack('nnJn', 60, 0, strlen('pong'), 0)) . $frame(3, $channel, 'pong');
$message = fn(int $channel): string => $method($channel, 60, 71, pack('JCCCN', 1, 0, 0, 0, 0)) . $body($channel);  // get-ok
$delivery = function (int $channel) use ($method, $body): string {
    static $consumers = 0;
    $tag = "\5" . sprintf('c%04d', ++$consumers);
    return $method($channel, 60, 21, $tag) . $method($channel, 60, 60, $tag . pack('JCCC', 1, 0, 0, 0)) . $body($channel);  // consume-ok, deliver
};
$asked = [];

/** @return string|null  what to say to a method; null: nothing yet */
$answer = fn(int $channel, int $class, int $number): ?string => match ([$class, $number]) {
    [10, 11] => $method(0, 10, 30, pack('nNn', 256, 131072, 0)),  // start-ok: tune
    [10, 40] => $method(0, 10, 41, "\0"),                         // open
    [10, 50], [20, 40] => $method($channel, $class, $number + 1), // close
    [20, 10] => $method($channel, 20, 11, $long('')),             // open a channel
    [60, 10] => $method($channel, 60, 11),                        // qos
    [60, 20] => $delivery($channel),                              // consume
    [50, 10] => $method($channel, 50, 11, "\1q" . pack('NN', 0, 0)),  // declare a queue
    default => null,
};
$clients = [];
while (true) {
    $readable = [$server, ...array_values($clients)];
    $none = null;
    stream_select($readable, $none, $none, null);
    foreach ($readable as $stream) {
        if ($stream === $server) {
            $client = stream_socket_accept($server);
            stream_set_read_buffer($client, 0);
            fread($client, 8);  // "AMQP" and the version
            fwrite($client, $method(0, 10, 10, "\0\x09" . $long('') . $long('PLAIN') . $long('en_US')));
            $clients[(int) $client] = $client;
        } elseif (strlen($head = stream_get_contents($stream, 7)) < 7) {
            unset($clients[(int) $stream]);
        } else {
            ['channel' => $channel, 'size' => $size] = unpack('Ctype/nchannel/Nsize', $head);
            ['class' => $class, 'number' => $number] = unpack('nclass/nnumber', stream_get_contents($stream, $size + 1));
            [$class, $number] === [60, 70] ? $asked[] = [$stream, $channel] : fwrite($stream, (string) $answer($channel, $class, $number));
        }
    }
    if (count($asked) === $count) {
        usleep((int) ($delay * 1e6));
        foreach ($asked as [$stream, $channel]) {
            fwrite($stream, $message($channel));
        }
        $asked = [];
    }
}
