--TEST--
Classes below Cancellation have the protected properties of a throwable, and may declare them again
--FILE--
<?php
class Plain extends Async\AsyncCancellation {
    public function show(): string { return "$this->message, $this->code, " . basename($this->file) . ", $this->line"; }
    public function change(): void {
        $this->message .= " and more";
        $this->code++;
        unset($this->file);
        var_dump(isset($this->message), isset($this->file));
    }
}
class Again extends Cancellation {
    protected $message = "default";
    protected $code = 5;
    protected string $file = "nowhere";
    protected int $line = 1;
    public function show(): string { return "$this->message, $this->code, " . basename($this->file) . ", $this->line"; }
}
class AgainBelow extends Again {
    public function short(): string { return "$this->message $this->line"; }
}
class Stranger {
    public function look(Cancellation $at): string { return $at->message; }
}

for ($i = 0; $i < 3; $i++) {
    $plain = new Plain("text", 3, new Exception("before"));
    echo $plain->show(), "\n";
    $plain->change();
    echo $plain->getMessage(), " ", $plain->getCode(), " ", $plain->getPrevious()->getMessage(), "\n";
}
$again = new Again();
echo $again->show(), "; ", $again->getMessage(), " ", $again->getCode(), " ", basename($again->getFile()), " ", $again->getLine(), "\n";
echo (new AgainBelow("given"))->short(), "\n";
var_dump($again instanceof Error, get_parent_class('Cancellation'));
foreach ([fn() => $again->message, fn() => (new Stranger)->look(new Plain("x"))] as $look) {
    try {
        $look();
    } catch (Error $error) {
        echo $error->getMessage(), "\n";
    }
}
try {
    throw new AgainBelow("thrown");
} catch (Cancellation $caught) {
    echo explode("\n", (string) $caught)[0] === "AgainBelow: thrown in " . __FILE__ . ":" . (__LINE__ - 2) ? "shown\n" : (string) $caught;
}
?>
--EXPECT--
text, 3, 007-protected-properties.php, 26
bool(true)
bool(false)
text and more 4 before
text, 3, 007-protected-properties.php, 26
bool(true)
bool(false)
text and more 4 before
text, 3, 007-protected-properties.php, 26
bool(true)
bool(false)
text and more 4 before
default, 5, 007-protected-properties.php, 31; default 5 007-protected-properties.php 31
given 33
bool(false)
bool(false)
Cannot access protected property Again::$message
Cannot access protected property Plain::$message
shown
