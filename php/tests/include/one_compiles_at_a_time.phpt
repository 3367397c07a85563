--TEST--
A file is compiled as a whole, also when an error handler waits in the middle: others wait for their turn
--EXTENSIONS--
true_async
--INI--
opcache.enable=0
--FILE--
<?php
use function Async\{spawn, suspend, await, current_coroutine};

function write(string $name, string $code): string {
    $file = __DIR__ . "/one_compiles_$name.inc.php";
    file_put_contents($file, "<?php\n$code");
    return $file;
}
const LATE = '($a = 1, $b) { return __FUNCTION__ . __LINE__; }';
set_error_handler(function ($level, $message, $file, $line) {
    echo substr(basename($file), 13, 1), " line $line\n";
    for ($i = 0; $i < 3; ++$i) suspend();
    return true;
});
$a = write('a', "function a1" . LATE . "\nclass A { function m" . LATE . " }\nreturn 'a';");
$b = write('b', "class B { function m" . LATE . "\nfunction n" . LATE . " }\nfunction b1" . LATE . "\nreturn 'b';");
$c = write('c', "function c1() { return 'c'; }\nreturn eval('function c2" . LATE . " return \'c\';');");
$all = [];
foreach ([$a, $b, $c] as $file) $all[] = spawn(fn() => require $file);
$all[] = spawn(fn() => eval('return "e";'));
$all[] = spawn(function () { try { eval('broken code'); } catch (ParseError $e) { return get_class($e); } });
$waiter = spawn(fn() => require write('d', 'echo "never\n";'));
suspend();
$waiter->cancel();
foreach ($all as $one) echo await($one), "\n";
echo a1(1, 2), ' ', (new A)->m(1, 2), ' ', (new B)->m(1, 2), ' ', (new B)->n(1, 2), ' ', b1(1, 2), ' ', c1(), ' ', c2(1, 2), "\n";

// A compilation inside the handler is of the same coroutine, one inside a stream that is read comes before.
set_error_handler(function ($level, $message, $file, $line) use ($a) {
    suspend();
    echo eval('return "nested";'), "\n";
});
final class Wrapper {
    public $context;
    private $text;
    function stream_open($path) {
        $this->text = await(spawn(fn() => eval("return '<?php function fetched" . LATE . "';")));
        return true;
    }
    function stream_read($count) { suspend(); [$text, $this->text] = [$this->text, '']; return $text; }
    function stream_eof() { return $this->text === ''; }
    function stream_stat() { return []; }
    function stream_set_option() { return false; }
}
stream_wrapper_register('fetch', 'Wrapper');
ini_set('allow_url_include', 1);
$other = spawn(fn() => require write('d', 'function d1' . LATE . "\nreturn 'd';"));
await(spawn(fn() => require 'fetch://x'));
echo await($other), d1(1, 2), fetched(1, 2), "\n";
restore_error_handler();
restore_error_handler();
var_dump(@include 'nothing://x');
try { @require __DIR__ . '/nothing.php'; } catch (Error $e) { echo get_class($e); }
?>
--CLEAN--
<?php array_map('unlink', glob(__DIR__ . '/one_compiles_*.inc.php')); ?>
--EXPECTF--
a line 2
a line 3
b line 2
a
b line 3
b line 4
c line 1
b
c
e
ParseError
a12 m3 m2 n3 b14 c c21
nested
nested
dd12fetched1
bool(false)
Error
