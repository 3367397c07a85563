--TEST--
Channel: any value goes through, in order; blocking calls work in the main script
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Channel;
$channel = new Channel(20);
$object = new ArrayObject([1]);
$stream = fopen('php://memory', 'r');
$word = 'before';
$reference = &$word;
$sent = [null, true, 0, -1.5, '', "bin\0ary", [1, ['a' => 2]], $object, fn() => 'called', $stream, $reference];
foreach ($sent as $value) {
    $channel->send($value);
}
$word = 'after';
foreach ($sent as $i => $value) {
    $received = $channel->recv();
    echo gettype($received), $received === $value ? " same\n" : " DIFFERENT\n";
    if ($received instanceof Closure) {
        echo $received(), "\n";
    }
}
$channel->send(new class { function __destruct() { echo "destroyed\n"; } });
$channel->recv();
echo "end\n";
--EXPECT--
NULL same
boolean same
integer same
double same
string same
string same
array same
object same
object same
called
resource same
string same
destroyed
end
