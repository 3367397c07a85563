--TEST--
examples/php/progress_bar.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/progress_bar.php';
--EXPECT--
[#####...............] 5/20
[##########..........] 10/20
[###############.....] 15/20
[####################] 20/20
18300 bytes, 2 failures
file 9 is damaged
file 18 is damaged
