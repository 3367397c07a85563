--TEST--
iterate: order, concurrency, generators, leftovers, wrong arguments
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{iterate,spawn,suspend,delay};
iterate(['a'=>1,'b'=>2], function($v,$k) { echo "$k=$v "; }); echo "\n";
try { iterate([1,2,3,4,5], function($v) { echo "begin $v, "; suspend(); if ($v == 2) throw new Exception("two"); echo "end $v, "; }, concurrency: 3); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
iterate((function() { for ($i=0;$i<5;$i++) { suspend(); yield $i; } })(), function($v) { suspend(); echo $v; return $v < 3; }, 1); echo "\n";
iterate([1,2,3], function() { spawn(function() { echo "started "; try { suspend();suspend();suspend(); echo "done"; } catch (\Cancellation $e) { echo "cancelled "; throw $e; } }); }); echo "\n";
try { iterate(5, fn() => 1); } catch (TypeError $e) { echo $e->getMessage(), "\n"; }
--EXPECT--
a=1 b=2 
begin 1, end 1, begin 2, begin 3, two
0123
started started started cancelled cancelled cancelled 
Async\iterate(): Argument #1 ($iterable) must be of type Traversable|array, int given
