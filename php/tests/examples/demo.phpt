--TEST--
examples/php/demo/demo.php, in its short form
--EXTENSIONS--
true_async
pdo
pdo_sqlite
--ARGS--
--short
--FILE--
<?php
require __DIR__ . '/../../../examples/php/demo/demo.php';
--EXPECTF--
one after another
  pages     [########################################]  10 of  10
  queries   [########################################]   4 of   4
  processes [########################################]   2 of   2
  names     [########################################]   3 of   3
  %f s

as coroutines
  pages     [########################################]  10 of  10
  queries   [########################################]   4 of   4
  processes [########################################]   2 of   2
  names     [########################################]   3 of   3
  %f s

one after another      0 s%A
%A
the same, enlarged     0 s%A
one after another:%w%f s
as coroutines:%w%f s
%d times as fast, with the same results
