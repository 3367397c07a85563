--TEST--
Transparent I/O: reads take turns in SplFileObject and in streams written in PHP
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await_all, delay};

class Lines {
    public $context;
    private int $count = 0;
    public function stream_open() { return true; }
    public function stream_read($size) {
        $number = $this->count++;
        delay(2 + $number % 2 * 2);
        return $number < 6 ? str_repeat(chr(65 + $number), 5) . "\n" : '';
    }
    public function stream_eof() { return $this->count >= 6; }
    public function stream_stat() { return []; }
    public function url_stat() { return []; }
}
stream_wrapper_register('lines', 'Lines');

/** Three lines each for two coroutines, all of them whole and none twice. */
function read_by_two(string $name, callable $read): void {
    $got = [];
    $three = function () use ($read, &$got) {
        for ($i = 0; $i < 3; ++$i) {
            $got[] = trim($read());
        }
    };
    await_all([spawn($three), spawn($three)]);
    sort($got);
    echo "$name: ", implode(' ', $got), "\n";
}

$stream = fopen('lines://', 'r');
read_by_two('fgets of a wrapper', fn() => fgets($stream));
$stream = fopen('lines://', 'r');
read_by_two('fread of a wrapper', fn() => fread($stream, 6));
$file = new SplFileObject('lines://', 'r');
read_by_two('SplFileObject of a wrapper', fn() => $file->fgets());

function sockets(): array {
    return array_filter(scandir('/proc/self/fd'), fn($number) => str_starts_with((string)@readlink("/proc/self/fd/$number"), 'socket:'));
}
$before = sockets();
[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$file = new SplFileObject('php://fd/' . min(array_diff(sockets(), $before)), 'r+');
spawn(function () use ($theirs) {
    foreach (['a', 'b', 'c', 'd', 'e', 'f'] as $letter) {
        delay(2);
        fwrite($theirs, str_repeat($letter, 5) . "\n");
    }
});
read_by_two('SplFileObject of a socket', fn() => $file->fgets());
?>
--EXPECT--
fgets of a wrapper: AAAAA BBBBB CCCCC DDDDD EEEEE FFFFF
fread of a wrapper: AAAAA BBBBB CCCCC DDDDD EEEEE FFFFF
SplFileObject of a wrapper: AAAAA BBBBB CCCCC DDDDD EEEEE FFFFF
SplFileObject of a socket: aaaaa bbbbb ccccc ddddd eeeee fffff
