--TEST--
Future chains: failure skips map, success skips catch, throwing callbacks, finally
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState};
use function Async\{spawn, await};
$ok = Future::completed(5);
$bad = Future::failed(new LogicException('source'));
$bad->ignore();
tell(fn() => $ok->map(fn($v) => $v + 1)->await());
tell(fn() => $ok->map(map: 'strval')->await());
tell(fn() => $ok->map(function () {})->await());
tell(fn() => $ok->catch(fn() => 'not called')->await());
tell(fn() => $bad->map(fn() => 'not called')->await());
tell(fn() => $bad->catch(fn(Throwable $e) => [$e::class, $e->getMessage()])->await());
tell(fn() => $bad->catch(catch: fn() => null)->await());
tell(fn() => $bad->catch(fn() => throw new DomainException('from catch'))->await());
tell(fn() => $ok->map(fn() => throw new DomainException('from map'))->await());
tell(fn() => $ok->finally(fn(...$a) => count($a))->await());
tell(fn() => $bad->finally(finally: fn() => 'ignored')->await());
tell(fn() => $ok->finally(fn() => throw new DomainException('from finally'))->await());
tell(fn() => $bad->finally(fn() => throw new DomainException('from finally'))->await());
echo "long chains\n";
tell(fn() => $ok->map(fn($v) => $v * 2)->map(fn($v) => throw new Exception("at $v"))->map(fn() => 'skipped')->catch(fn($e) => $e->getMessage())->map('strtoupper')->finally(fn() => print("finally\n"))->await());
echo "a callback that suspends\n";
tell(fn() => $ok->map(function ($v) { Async\delay(2); return "slept $v"; })->await());
echo "a future as a value stays a future\n";
tell(fn() => $ok->map(fn() => Future::completed(1)->ignore())->await() instanceof Future);
echo "methods and static methods\n";
class Maps { function one($v) { return "one $v"; } static function two($v) { return "two $v"; } function __invoke($v) { return "three $v"; } }
tell(fn() => [$ok->map([new Maps, 'one'])->await(), $ok->map('Maps::two')->await(), $ok->map(new Maps)->await(), $ok->map((new Maps)->one(...))->await()]);
--EXPECT--
6
"5"
null
5
LogicException: source
["LogicException","source"]
null
DomainException: from catch
DomainException: from map
5
LogicException: source
DomainException: from finally
DomainException: from finally
  previous LogicException: source
long chains
finally
"AT 10"
a callback that suspends
"slept 5"
a future as a value stays a future
true
methods and static methods
["one 5","two 5","three 5","one 5"]
