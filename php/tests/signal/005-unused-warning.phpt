--TEST--
signal(): a future that was never used warns like every other
--EXTENSIONS--
true_async
--FILE--
<?php
$future = Async\signal(Async\Signal::SIGUSR1);
unset($future);
echo "end\n";
?>
--EXPECTF--

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s005-unused-warning.php:2 in %s005-unused-warning.php on line 3
end
