--TEST--
map(), catch(), finally()
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\await;

function outcome(Future $future): void {
    try {
        var_dump($future->await());
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), $e->getPrevious() ? ' <- ' . $e->getPrevious()->getMessage() : '', "\n";
    }
}
outcome(Future::completed(2)->map(fn($v) => $v * 21));
outcome(Future::completed(2)->map(function ($v) {}));
outcome(Future::completed(2)->catch(fn($e) => 'skipped'));
outcome(Future::failed(new LogicException('x'))->map(fn() => 'skipped')->catch(fn($e) => 'caught ' . $e->getMessage()));
outcome(Future::completed(1)->map(function () { throw new DomainException('thrown'); }));
outcome(Future::completed(1)->finally(function (...$arguments) { echo count($arguments), " arguments\n"; return 'ignored'; }));
outcome(Future::failed(new LogicException('kept'))->catch(fn($e) => throw $e)->ignore()->finally(function () { echo "finally\n"; }));
outcome(Future::completed(1)->finally(fn() => throw new DomainException('replaces')));
$failed = Future::failed(new LogicException('source'));
$failed->ignore();
outcome($failed->finally(fn() => throw new DomainException('replaces')));
// Branches are independent.
$source = Future::completed(10);
$one = $source->map(fn($v) => $v + 1);
$two = $source->map(fn($v) => $v + 2);
var_dump(await($one), await($two), await($source));
foreach (['map', 'catch', 'finally'] as $method) {
    try {
        $source->$method('no such function');
    } catch (TypeError $e) {
        echo "TypeError\n";
    }
}
?>
--EXPECT--
int(42)
NULL
int(2)
string(8) "caught x"
DomainException: thrown
0 arguments
int(1)
finally
LogicException: kept
DomainException: replaces
DomainException: replaces <- source
int(11)
int(12)
int(10)
TypeError
TypeError
TypeError
