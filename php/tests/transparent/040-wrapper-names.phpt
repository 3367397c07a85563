--TEST--
Transparent I/O: two coroutines may open the same URL of a stream wrapper written in PHP; opening it from within is refused
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await, delay};

class Wrapper {
    public $context;
    private string $rest = 'text';
    function stream_open(string $path): bool {
        delay(1);
        if (str_ends_with($path, 'loop')) {
            return @fopen($path, 'r') !== false;
        }
        return true;
    }
    function stream_read(int $size): string { delay(1); return substr($this->rest, 0, 0) . array_shift($this->parts); }
    private array $parts = ['te', 'xt'];
    function stream_eof(): bool { return $this->parts === []; }
    function stream_stat(): array { return []; }
    function stream_close(): void { echo "closed\n"; }
}
stream_wrapper_register('own', 'Wrapper');
$all = [];
for ($i = 0; $i < 3; $i++) {
    $all[] = spawn(fn() => file_get_contents('own://same'));
}
foreach ($all as $one) {
    $got[] = await($one);
}
echo json_encode($got), "\n";
var_dump(@fopen('own://loop', 'r'));

// Closed while another is inside a function that only looks.
$stream = fopen('own://x', 'r');
$looking = spawn(fn() => stream_get_contents($stream));
$closing = spawn(function () use ($stream) { fclose($stream); });
echo json_encode(await($looking)), "\n";
await($closing);
?>
--EXPECT--
closed
closed
closed
["text","text","text"]
bool(false)
"text"
closed
