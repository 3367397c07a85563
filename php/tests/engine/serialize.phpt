--TEST--
serialize() and unserialize() that suspend do not share what they have seen with other coroutines
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await};

error_reporting(E_ALL & ~E_DEPRECATED);
final class Old implements Serializable {
    function __construct(public $inner) {}
    function serialize() { suspend(); $text = serialize($this->inner); suspend(); return $text; }
    function unserialize($text) { suspend(); $this->inner = unserialize($text); suspend(); }
}
final class Recent {
    public $inner;
    function __serialize(): array { suspend(); return [$this->inner, strlen(serialize([$this->inner, $this->inner]))]; }
    function __unserialize(array $data): void { suspend(); $this->inner = unserialize(serialize($data))[0]; }
}
final class Sleeper {
    public $inner;
    function __sleep() { suspend(); return ['inner']; }
    function __wakeup() { suspend(); }
}
function make(): array {
    $shared = new stdClass;
    $recent = new Recent;
    $sleeper = new Sleeper;
    $recent->inner = $sleeper->inner = $shared;
    return [$shared, new Old($shared), $recent, $sleeper, $shared];
}
$alone = serialize(make());
echo $alone, "\n";
$plain = 'a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}';
$tasks = [];
for ($i = 0; $i < 4; ++$i) {
    $tasks[] = spawn(fn() => serialize(make()) === $alone);
    $tasks[] = spawn(function () use ($alone) {
        $all = unserialize($alone);
        return $all[0] === $all[4] && $all[1]->inner === $all[0] && $all[3]->inner === $all[0];
    });
    $tasks[] = spawn(function () use ($plain) {
        for ($i = 0; $i < 3; ++$i) {
            suspend();
            $object = new stdClass;
            if (serialize([$object, $object]) !== $plain || count(unserialize($plain)) !== 2) return false;
        }
        return true;
    });
}
echo json_encode(array_map('Async\await', $tasks)), "\n";
?>
--EXPECT--
a:5:{i:0;O:8:"stdClass":0:{}i:1;C:3:"Old":4:{r:2;}i:2;O:6:"Recent":2:{i:0;r:2;i:1;i:37;}i:3;O:7:"Sleeper":1:{s:5:"inner";r:2;}i:4;r:2;}
[true,true,true,true,true,true,true,true,true,true,true,true]
