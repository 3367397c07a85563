--TEST--
User classes below \Cancellation; others may still not implement Throwable
--EXTENSIONS--
true_async
--FILE--
<?php
class Mine extends Cancellation {
    public function __construct(public readonly string $extra) { parent::__construct("mine $extra", 3); }
}
class Async2 extends Async\AsyncCancellation {}
class Deeper extends Mine {}
foreach ([new Mine('a'), new Async2('b'), new Deeper('c')] as $thrown) {
    try {
        try {
            throw $thrown;
        } catch (Exception | Error $e) {
            echo "wrong\n";
        } finally {
            echo "finally ";
        }
    } catch (Cancellation $e) {
        echo $e::class, ' ', $e->getMessage(), ' ', $e->getLine(), "\n";
    }
}
var_dump(new Mine('x') instanceof Throwable);
eval('class Wrong implements Throwable {}');
?>
--EXPECTF--
finally Mine mine a 7
finally Async2 b 7
finally Deeper mine c 7
bool(true)

Fatal error: Class Wrong cannot implement interface Throwable, extend Exception or Error instead in %s
