--TEST--
Where a chained future was completed: at its callback, or where the source was
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{await, spawn, suspend};
use Async\{Future, FutureState};

$state = new FutureState();
$source = new Future($state);
$mapped = $source->map(
    fn($x) => $x + 1  // line 8
);
$passed = $source->catch(fn($e) => 1);
$internal = $source->map('strval');
$finally = $mapped->finally(function () {});  // line 12
function place(Future $f): string { return basename($f->getCompletedLocation()); }
echo place($mapped), ' ', json_encode($mapped->getCompletedFileAndLine()), "\n";
$state->complete(1);  // line 15
await($finally);
await($passed);
await($internal);
foreach (['source' => $source, 'mapped' => $mapped, 'passed' => $passed, 'internal' => $internal, 'finally' => $finally] as $name => $f) {
    echo $name, ': ', substr(strrchr(place($f), ':'), 1), "\n";
}
?>
--EXPECT--
unknown [null,0]
source: 15
mapped: 8
passed: 15
internal: 15
finally: 12
